import { z } from 'zod';
import type { FilterExpression, StorageHit } from '../../lib/index.js';
import type { SearchableStorage, SearchOutcome } from '../knowledge/index.js';

/** Hits of a leg that are shown, and hits that are searched for one record. */
const shownHits = 20;
const deepestRank = 1000;

export const inspectionSchema = z.strictObject({
  storage: z.string().min(1),
  text: z.string().min(1).max(32_768),
  mode: z.enum(['dense', 'lexical', 'hybrid']).default('hybrid'),
  top_k: z.int().min(1).max(100).default(10),
  filter: z.unknown().optional(),
  /** Id of a record that was expected. */
  record: z.string().max(4096).optional(),
});

export type InspectionRequest = z.output<typeof inspectionSchema>;

interface InspectedHit extends Omit<StorageHit, 'text'> {
  text: string;
}

export interface Inspection {
  hits: InspectedHit[];
  dense: InspectedHit[];
  lexical: InspectedHit[];
  /** Hits of the same search without the filter that the filter removed. */
  removed: InspectedHit[];
  plan: SearchOutcome['plan'];
  embedMs: number;
  searchMs: number;
  /** Why the asked record is or is not among the hits. */
  record?: string;
}

/** Runs a search, each of its legs and the search without its filter. @throws as SearchableStorage.search() */
export async function inspect(
  storage: SearchableStorage,
  { text, mode, top_k: topK, filter, record }: InspectionRequest,
  signal: AbortSignal,
): Promise<Inspection> {
  const filtered = filter === undefined || filter === null ? {} : { filter: filter as FilterExpression };
  const search = (options: object) => storage.search({ text, mode, topK, signal, ...options });
  const outcome = await search(filtered);
  const leg = async (name: 'dense' | 'lexical') =>
    (await search({ mode: name, topK: record === undefined ? shownHits : deepestRank, ...filtered })).hits;
  const [dense, lexical] = [await leg('dense'), await leg('lexical')];
  const unfiltered = 'filter' in filtered ? (await search({})).hits : [];
  const kept = new Set([...outcome.hits, ...dense, ...lexical].map(({ ordinal }) => ordinal));
  const removed = unfiltered.filter(({ ordinal }) => !kept.has(ordinal));
  return {
    hits: outcome.hits.map(shown),
    dense: dense.slice(0, shownHits).map(shown),
    lexical: lexical.slice(0, shownHits).map(shown),
    removed: removed.map(shown),
    plan: outcome.plan,
    embedMs: outcome.embedMs,
    searchMs: outcome.searchMs,
    ...(record !== undefined && {
      record: await explain(record, { outcome, dense, lexical, filtered, mode, topK, search }),
    }),
  };
}

const longestShown = 500;

function shown(hit: StorageHit): InspectedHit {
  return { ...hit, text: hit.text.slice(0, longestShown) };
}

interface Found {
  outcome: SearchOutcome;
  dense: readonly StorageHit[];
  lexical: readonly StorageHit[];
  filtered: { filter?: FilterExpression };
  mode: InspectionRequest['mode'];
  topK: number;
  search(options: object): Promise<SearchOutcome>;
}

async function explain(id: string, found: Found): Promise<string> {
  const { outcome, mode, topK, search } = found;
  const own = (hits: readonly StorageHit[]) => hits.find((hit) => hit.id === id);
  const hit = own(outcome.hits);
  if (hit !== undefined) return `${id} is hit ${hit.rank}.`;
  const dense = own(found.dense);
  const lexical = own(found.lexical);
  if (dense === undefined && lexical === undefined) return missing(id, found);
  const { hits } = await search({ topK: deepestRank, ...found.filtered });
  const deep = own(hits);
  const legs = [
    mode === 'lexical' ? '' : legRank('by meaning', dense),
    mode === 'dense' ? '' : legRank('by words', lexical),
  ].filter(Boolean);
  const place =
    deep === undefined ? 'not among the candidates' : `at rank ${deep.rank} (score ${short(deep.score)})`;
  const last = outcome.hits.at(-1);
  const limit = last === undefined ? '' : `; the last of ${topK} hits has score ${short(last.score)}`;
  return `${id} is ${place}${limit}. ${legs.join('; ')}.`;
}

/** Tells a record that the filter removes from one that neither leg finds. */
async function missing(id: string, { filtered, search }: Found): Promise<string> {
  const depth = `the first ${deepestRank} by meaning or by words`;
  if (filtered.filter === undefined) return `${id} is not among ${depth}, or is not in the storage.`;
  for (const mode of ['dense', 'lexical'] as const) {
    const { hits } = await search({ mode, topK: deepestRank });
    const hit = hits.find((one) => one.id === id);
    if (hit !== undefined) {
      const leg = mode === 'dense' ? 'by meaning' : 'by words';
      return `The filter removes ${id}: without it, it is at rank ${hit.rank} ${leg}. Its metadata: ${JSON.stringify(hit.metadata ?? {})}.`;
    }
  }
  return `${id} is not among ${depth}, with or without the filter, or is not in the storage.`;
}

function legRank(leg: string, hit: StorageHit | undefined): string {
  if (hit === undefined) return `${leg} it is not among the first ${deepestRank}`;
  const { distance, bm25Score } = hit;
  const value = distance === undefined ? `BM25 ${short(bm25Score ?? 0)}` : `distance ${short(distance)}`;
  return `${leg} it is at rank ${hit.rank} (${value})`;
}

const short = (value: number) => value.toPrecision(4);
