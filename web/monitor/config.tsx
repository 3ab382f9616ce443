import { useState } from 'preact/hooks';
import { ms } from '../parts/format.js';
import { Table } from '../parts/table.js';
import type { MonitorState } from './api.js';
import { PrefixTree } from './prefix-tree.js';
import { inWords, plain, settingInWords, valueInWords } from './words.js';

export function Config({ state }: { state: MonitorState }) {
  const [words, setWords] = useState('');
  const [changed, setChanged] = useState(false);
  const rows = state.config
    .filter(({ path, meaning }) => `${path} ${meaning}`.toLowerCase().includes(words.trim().toLowerCase()))
    .filter(({ source }) => !changed || source !== 'default')
    .map(({ path, value, default: usual, source, meaning }) => [
      <>
        <code class="path">{breakable(path)}</code>
        <span class="meaning dim">{plain(meaning)}</span>
      </>,
      <>
        <span title={JSON.stringify(value)}>{settingInWords(value)}</span>
        {JSON.stringify(value) !== JSON.stringify(usual) && (
          <span class="meaning dim">default {settingInWords(usual)}</span>
        )}
      </>,
      source === 'default' ? <span class="dim">default</span> : source,
    ]);
  return (
    <section aria-label="Config">
      <div class="tools">
        <label>
          Field or meaning
          <input type="search" value={words} onInput={({ currentTarget }) => setWords(currentTarget.value)} />
        </label>
        <label class="tick">
          <input
            type="checkbox"
            checked={changed}
            onChange={({ currentTarget }) => setChanged(currentTarget.checked)}
          />
          Changed fields only
        </label>
      </div>
      <div class="panel settings">
        <Table label="Config" head={['Field', 'Value', 'Set by']} rows={rows} empty="No field." />
      </div>
    </section>
  );
}

/** Long names break at their dots and underscores only. */
const breakable = (path: string) => path.split(/(?<=[._])/).flatMap((part) => [part, <wbr />]);

const classes = [
  ['interactiveVisible', 'interactive_visible', 'text that is shown while it is written'],
  ['interactiveBuffered', 'interactive_buffered', 'replies that somebody waits for'],
  ['background', 'background', 'everything else'],
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
        rows={classes.map(([key, name, meaning]) => {
          const { running, queued, decodeTokens, prefillTokens, longestWaitMs } = state.scheduler[key];
          return [
            <>
              {breakable(name)} <span class="meaning dim">{meaning}</span>
            </>,
            running,
            queued,
            decodeTokens,
            prefillTokens,
            ms(longestWaitMs),
          ];
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
        hints={{
          'Cells used': 'A cell holds one token of a prompt or a reply.',
          Reserved: 'Cells that replies under way may still need.',
          'Kept prefixes':
            'Beginnings of prompts that stay in the cells, so that they are not computed again.',
          'From prefixes': 'Prompt tokens that were there and were not computed again.',
        }}
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
          .map(([name, value]) => [inWords(name), valueInWords(name, value)])}
      />
    </section>
  );
}
