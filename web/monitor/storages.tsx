import { useState } from 'preact/hooks';
import { bytes, tail } from '../parts/format.js';
import { KeyField } from '../parts/key-field.js';
import { Table } from '../parts/table.js';
import { act, type MonitorState, NeedsKey, useKey } from './api.js';

type Path = Parameters<typeof act>[0];

/** What the last action did, or why it waits for a key. */
interface Outcome {
  readonly text: string;
  readonly isBad?: boolean;
  /** Does it again, with a key. */
  readonly again?: () => void;
}

interface StoragesProps {
  state: MonitorState;
  /** Asks the server for its state. */
  refresh(): void;
}

/** Storages, models and backends, and buttons that free their memory. */
export function Storages({ state, refresh }: StoragesProps) {
  const [outcome, setOutcome] = useState<Outcome | undefined>();
  const run = (path: Path, name: string, done: string) => {
    const again = () => run(path, name, done);
    act(path, name).then(
      () => {
        setOutcome({ text: done });
        refresh();
      },
      (error: Error) =>
        setOutcome(
          error instanceof NeedsKey
            ? { text: error.message, isBad: true, again }
            : { text: `${name}: ${error.message}`, isBad: true },
        ),
    );
  };
  return (
    <section aria-label="Storages and models">
      <p role={outcome?.isBad ? 'alert' : 'status'} class={outcome?.isBad ? 'bad' : 'dim'}>
        {outcome?.text}
      </p>
      {outcome?.again !== undefined && (
        <KeyField
          label="Access token, or a key with the right files"
          enter={(given) => {
            useKey(given);
            outcome.again?.();
          }}
        />
      )}
      <KnowledgeBases state={state} run={run} />
      <Models state={state} run={run} />
      <div class="panel">
        <h2>Backends</h2>
        <Table
          label="Backends"
          head={['Name', 'State', 'Reason', 'Memory']}
          numbers={[3]}
          empty="No backend."
          rows={state.backends.map(({ name, state: found, reason, totalBytes }) => [
            name,
            found,
            reason,
            totalBytes === undefined ? '' : bytes(totalBytes),
          ])}
        />
      </div>
    </section>
  );
}

interface PanelProps {
  state: MonitorState;
  run(path: Path, name: string, done: string): void;
}

const number = (value: number | undefined) => value?.toLocaleString() ?? '';

function KnowledgeBases({ state, run }: PanelProps) {
  return (
    <div class="panel">
      <h2>Storages of knowledge bases</h2>
      <Table
        label="Storages"
        head={['Config file', 'State', 'Records', 'Dimension', 'Pins', 'Memory', 'Action']}
        numbers={[2, 3, 4, 5]}
        hints={{
          Dimension: 'Numbers of an embedding.',
          Pins: 'Sessions and turns that use it: it stays in memory until none is left.',
          Action: 'Close frees the memory of a storage that nobody uses. The next request loads it again.',
        }}
        empty="No knowledge base is loaded."
        rows={state.storages.map(({ name, state: entry, pins, bytes: size, records, dimension }) => [
          <span title={name}>{tail(name, 64)}</span>,
          entry,
          number(records),
          number(dimension),
          pins,
          bytes(size),
          entry === 'OnDemand' && (
            <button
              type="button"
              aria-label={`Close ${name}`}
              onClick={() => run('storages/close', name, `${name} is closed.`)}
            >
              Close
            </button>
          ),
        ])}
      />
    </div>
  );
}

function Models({ state, run }: PanelProps) {
  return (
    <div class="panel">
      <h2>Models</h2>
      <Table
        label="Models"
        head={['Name', 'Type', 'State', 'Details', 'Action']}
        hints={{
          Action: 'Unload frees the memory of a model that no request uses. The next request loads it again.',
        }}
        empty="The catalog is empty."
        rows={state.models.map(({ name, type, loaded, present, detail }) => [
          name,
          type,
          loaded ? 'in memory' : present ? 'not loaded' : 'not downloaded',
          detail ?? '',
          loaded && (
            <button
              type="button"
              aria-label={`Unload ${name}`}
              onClick={() => run('models/unload', name, `${name} is unloaded.`)}
            >
              Unload
            </button>
          ),
        ])}
      />
      <p class="dim">
        {state.modelMemory.map(
          ({ device, used, limit }) =>
            `${device}: ${bytes(used)}${limit === undefined ? '' : ` of ${bytes(limit)}`}. `,
        )}
      </p>
    </div>
  );
}
