import type { FilterExpression, SearchMode, StorageHit } from '../../lib/index.js';
import { textPrefix } from '../agents/text-prefix.js';
import type { SearchableStorage, SearchOutcome } from '../knowledge/index.js';
import { stringifyWithWideIntegers } from '../schema/wide-integers.js';

/** The best hits of one leg. */
export interface Leg {
  hits: readonly StorageHit[];
  /** Why the leg alone found nothing. */
  problem?: string;
}

export interface Inspected {
  storage: SearchableStorage;
  filter: FilterExpression | undefined;
  mode: SearchMode;
  outcome: SearchOutcome;
  dense: Leg;
  lexical: Leg;
  /** Repeats the search with other options. */
  search(options: object): Promise<SearchOutcome>;
  signal: AbortSignal;
}

/** Hits that are searched for the record. */
export const deepestRank = 1000;
/** Longest id and longest metadata of an answer, in characters. */
const longestId = 128;
const longestMetadata = 2000;

const short = (value: number) => value.toPrecision(4);
const own = (hits: readonly StorageHit[], id: string) => hits.find((hit) => hit.id === id);

/** Says why a record is or is not among the hits of a search. */
export async function explainRecord(id: string, inspected: Inspected): Promise<string> {
  const { storage, filter, outcome, search, signal } = inspected;
  const name = textPrefix(id, longestId);
  const hit = own(outcome.hits, id);
  if (hit !== undefined) return `${name} is hit ${hit.rank}.`;
  const record = await storage.get(id, { signal });
  if (record === undefined) return `The storage has no record ${JSON.stringify(name)}.`;
  if (filter !== undefined && !(await matches(storage, filter, record.ordinal, signal))) {
    const metadata = textPrefix(stringifyWithWideIntegers(record.metadata ?? {}), longestMetadata);
    const without = await legRanks(id, inspected, { filter: undefined });
    return `The filter removes ${name}. Its metadata: ${metadata}. Without the filter: ${without}.`;
  }
  const deep = own((await search({ topK: deepestRank })).hits, id);
  const place =
    deep === undefined ? 'no candidate of the search' : `at rank ${deep.rank} (score ${short(deep.score)})`;
  const last = outcome.hits.at(-1);
  const limit =
    last === undefined ? '' : `; the last of ${outcome.hits.length} hits has score ${short(last.score)}`;
  return `${name} is ${place}${limit}. ${await legRanks(id, inspected)}.`;
}

/** Whether a record passes a filter. The matching records are in order, so a few steps find it among them. */
async function matches(
  storage: SearchableStorage,
  filter: FilterExpression,
  ordinal: number,
  signal: AbortSignal,
): Promise<boolean> {
  let low = 0;
  let high = await storage.count({ filter, signal });
  while (low < high) {
    const offset = Math.floor((low + high) / 2);
    const [found] = await storage.list({ filter, offset, limit: 1, signal });
    if (found === undefined || found.ordinal === ordinal) return found !== undefined;
    if (found.ordinal < ordinal) low = offset + 1;
    else high = offset;
  }
  return false;
}

/** Where the legs that the mode uses have the record; with `changes`, in searches with other options. */
async function legRanks(id: string, inspected: Inspected, changes?: object): Promise<string> {
  const { mode, search } = inspected;
  const ranks: string[] = [];
  for (const leg of ['dense', 'lexical'] as const) {
    if (mode !== 'hybrid' && mode !== leg) continue;
    const { problem } = inspected[leg];
    const found =
      changes === undefined || problem !== undefined
        ? inspected[leg].hits
        : (await search({ mode: leg, topK: deepestRank, ...changes })).hits;
    ranks.push(`${leg === 'dense' ? 'by meaning' : 'by words'} ${problem ?? legRank(id, leg, found)}`);
  }
  return ranks.join('; ');
}

function legRank(id: string, leg: 'dense' | 'lexical', hits: readonly StorageHit[]): string {
  const hit = own(hits, id);
  if (hit !== undefined) {
    const { rank, distance, bm25Score } = hit;
    return `it is at rank ${rank} (${leg === 'dense' ? `distance ${short(distance ?? 0)}` : `BM25 ${short(bm25Score ?? 0)}`})`;
  }
  // The leg by words finds every record that matches.
  if (leg === 'lexical' && hits.length < deepestRank) return 'it does not match the words of the query';
  return `it is not among the first ${deepestRank}`;
}
