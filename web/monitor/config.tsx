import { useState } from 'preact/hooks';
import type { MonitorState } from './api.js';
import { Table } from './table.js';

export function Config({ state }: { state: MonitorState }) {
  const [words, setWords] = useState('');
  const [changed, setChanged] = useState(false);
  const rows = state.config
    .filter(({ path }) => path.includes(words.trim().toLowerCase()))
    .filter(({ source }) => !changed || source !== 'default')
    .map(({ path, value, source }) => [
      <code>{path}</code>,
      <code>{JSON.stringify(value)}</code>,
      source === 'default' ? <span class="dim">default</span> : source,
    ]);
  return (
    <section aria-label="Config">
      <div class="tools">
        <label>
          Field
          <input value={words} onInput={({ currentTarget }) => setWords(currentTarget.value)} />
        </label>
        <label>
          Changed fields only
          <input
            type="checkbox"
            checked={changed}
            onChange={({ currentTarget }) => setChanged(currentTarget.checked)}
          />
        </label>
      </div>
      <div class="panel">
        <Table label="Config" head={['Field', 'Value', 'Set by']} rows={rows} empty="No field." />
      </div>
    </section>
  );
}

/** Facts of the scheduler of language models as they come from the engine. */
export function Scheduler({ state }: { state: MonitorState }) {
  return (
    <section aria-label="Scheduler" class="panel">
      <h2>Scheduler of language models</h2>
      {state.scheduler === undefined ? (
        <p class="dim">No language model is loaded.</p>
      ) : (
        <pre>{JSON.stringify(state.scheduler, null, 2)}</pre>
      )}
    </section>
  );
}
