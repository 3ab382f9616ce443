import { useState } from 'preact/hooks';
import type { MonitorState } from './api.js';
import { ms } from './format.js';
import { PrefixTree } from './prefix-tree.js';
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

const classes = [
  ['interactiveVisible', 'interactive_visible'],
  ['interactiveBuffered', 'interactive_buffered'],
  ['background', 'background'],
] as const;

/** Counts of the scheduler of language models. */
export function Scheduler({ state }: { state: MonitorState }) {
  return (
    <section aria-label="Scheduler" class="panel">
      <h2>Scheduler of language models</h2>
      <Table
        label="Classes"
        head={['Class', 'Running', 'Waiting', 'Generated tokens', 'Prompt tokens', 'Longest wait']}
        numbers={[1, 2, 3, 4, 5]}
        empty="No class."
        rows={classes.map(([key, name]) => {
          const { running, queued, decodeTokens, prefillTokens, longestWaitMs } = state.scheduler[key];
          return [name, running, queued, decodeTokens, prefillTokens, ms(longestWaitMs)];
        })}
      />
      <Table
        label="Loaded language models"
        head={[
          'Language model',
          'Cells used',
          'Reserved',
          'Kept prefixes',
          'Prompt tokens',
          'From prefixes',
          'Running',
          'Queued',
        ]}
        numbers={[1, 2, 3, 4, 5, 6, 7]}
        empty="No language model is in memory."
        rows={state.languageModels.map(({ name, numbers }) =>
          numbers === undefined
            ? [name, '', '', '', '', '', '', '']
            : [
                name,
                `${numbers.cellsUsed} of ${numbers.cells}`,
                numbers.cellsReserved,
                numbers.keptPrefixes,
                numbers.promptTokens,
                numbers.cachedTokens,
                numbers.running,
                numbers.queued,
              ],
        )}
      />
      {state.languageModels.map(
        ({ name, prefixes }) =>
          prefixes !== undefined && <PrefixTree key={name} name={name} parts={prefixes} />,
      )}
      <Table
        label="Counts"
        head={['Since the start', 'Count']}
        numbers={[1]}
        empty="No count."
        rows={Object.entries(state.scheduler)
          .filter(([, value]) => typeof value === 'number')
          .map(([name, value]) => [name, Math.round((value as number) * 100) / 100])}
      />
    </section>
  );
}
