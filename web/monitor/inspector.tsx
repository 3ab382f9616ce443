import { useState } from 'preact/hooks';
import { ms } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { type Inspection, type MonitorState, search } from './api.js';

type Hit = Inspection['hits'][number];

/** Runs a search on a loaded knowledge base and shows what each leg found. */
export function Inspector({ state }: { state: MonitorState }) {
  const [result, setResult] = useState<Inspection | undefined>();
  const [error, setError] = useState('');
  const loaded = state.storages.filter((entry) => entry.state !== 'Loading');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    setError('');
    try {
      setResult(
        await search({
          ...(text('fields') !== '' && parsedObject(text('fields'))),
          storage: text('storage'),
          text: text('text'),
          mode: text('mode'),
          top_k: Number(text('top_k')),
          ...(text('filter') !== '' && { filter: parsed('Filter', text('filter')) }),
          ...(text('record') !== '' && { record: text('record') }),
        }),
      );
    } catch (failure) {
      setResult(undefined);
      setError((failure as Error).message);
    }
  };
  return (
    <section aria-label="Search inspector">
      <div class="panel">
        <h2>Search inspector</h2>
        {loaded.length === 0 && (
          <p class="dim">No knowledge base is loaded: open one with a session first.</p>
        )}
        <form onSubmit={submit}>
          <label class="wide">
            Knowledge base
            <select name="storage">
              {loaded.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label class="wide">
            Query
            <input name="text" required maxLength={32_768} />
          </label>
          <label>
            Mode
            <select name="mode">
              {['hybrid', 'dense', 'lexical'].map((mode) => (
                <option key={mode}>{mode}</option>
              ))}
            </select>
          </label>
          <label>
            Hits
            <input name="top_k" type="number" min="1" max="100" value="10" />
          </label>
          <label>
            Filter (JSON)
            <input name="filter" placeholder='{">=": [{"knowledge": "year"}, 1990]}' />
          </label>
          <label>
            Further fields of a Retrieve node (JSON)
            <input name="fields" placeholder='{"threshold": 0.6, "fusion": "scores"}' />
          </label>
          <label>
            Why is this record not found?
            <input name="record" placeholder="id of the record" />
          </label>
          <button type="submit" disabled={loaded.length === 0}>
            Search
          </button>
        </form>
        {error !== '' && (
          <p class="bad" role="alert">
            {error}
          </p>
        )}
      </div>
      {result !== undefined && <Result result={result} />}
    </section>
  );
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

function parsedObject(text: string): object {
  const name = 'Further fields';
  const value = parsed(name, text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error(`${name}: an object such as {"threshold": 0.6} is expected`);
}

function Result({ result }: { result: Inspection }) {
  const { hits, dense, lexical, removed, plan, record, embedMs, searchMs } = result;
  return (
    <>
      {record !== undefined && (
        <div class="panel" role="status">
          {record}
        </div>
      )}
      <div class="panel">
        <h2>
          Hits{' '}
          <span class="dim">
            embedding {ms(embedMs)}, search {ms(searchMs)}
          </span>
        </h2>
        <Hits label="Hits" hits={hits} />
      </div>
      <div class="columns">
        <div class="panel">
          <h2>By meaning</h2>
          <LegHits label="By meaning" leg={dense} />
        </div>
        <div class="panel">
          <h2>By words</h2>
          <LegHits label="By words" leg={lexical} />
        </div>
      </div>
      {removed.length > 0 && (
        <div class="panel">
          <h2>Removed by the filter</h2>
          <Hits label="Removed by the filter" hits={removed} />
        </div>
      )}
      <div class="panel">
        <h2>Plan</h2>
        <pre>{JSON.stringify(plan, null, 2)}</pre>
      </div>
    </>
  );
}

const number = (value: number | undefined) => (value === undefined ? '' : value.toPrecision(4));

function LegHits({ label, leg }: { label: string; leg: Inspection['dense'] }) {
  if (leg.problem !== undefined) return <p class="dim">{leg.problem}</p>;
  return <Hits label={label} hits={leg.hits} />;
}

function Hits({ label, hits }: { label: string; hits: readonly Hit[] }) {
  return (
    <Table
      label={label}
      head={['#', 'Record', 'Score', 'Distance', 'BM25', 'Ranks', 'Text']}
      numbers={[0, 2, 3, 4, 5]}
      empty="No hits."
      rows={hits.map(({ rank, id, score, distance, bm25Score, denseRank, lexicalRank, text, metadata }) => [
        rank,
        <span title={metadata === undefined ? '' : JSON.stringify(metadata)}>{id}</span>,
        number(score),
        number(distance),
        number(bm25Score),
        denseRank === undefined && lexicalRank === undefined
          ? ''
          : `${denseRank ?? '-'} / ${lexicalRank ?? '-'}`,
        text.slice(0, 160),
      ])}
    />
  );
}
