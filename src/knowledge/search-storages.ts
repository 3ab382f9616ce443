import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { LorekeepError } from '../../lib/index.js';
import { rankedHits } from './result-options.js';
import { grouped, withContext } from './results.js';
import type { KnowledgeSearchOptions } from './search-options.js';
import type { SearchableStorage, SearchHit, SearchOutcome } from './searchable.js';

/** A hit of one of several storages. */
export interface StoragesHit extends SearchHit {
  /** Name of its storage. */
  storage: string;
}

export interface StoragesOutcome {
  /** Best first. */
  hits: StoragesHit[];
  /** What each storage's search did, in their order. */
  outcomes: (Omit<SearchOutcome, 'hits'> & { storage: string })[];
}

export type StoragesSearchOptions = Omit<KnowledgeSearchOptions, 'rerank' | 'similarTo' | 'vector'>;

/** Most storages of one search. */
const mostStorages = 16;

/**
 * Searches several storages and merges their hits: the next hit is always the one of highest relevance among the best that
 * are left of each storage.
 * @throws INVALID_ARGUMENT for no storages or more than 16; as SearchableStorage.search()
 */
export async function searchStorages(
  storages: Readonly<Record<string, SearchableStorage>>,
  options: StoragesSearchOptions,
): Promise<StoragesOutcome> {
  const named = Object.entries(storages ?? {}).map(([name, storage]) => ({ name, storage, options }));
  return searchNamed(named, nextTurnOfLoop);
}

/** Like searchStorages(), with the options of each storage; those that choose hits are the same for all. */
export async function searchNamed(
  named: readonly { name: string; storage: SearchableStorage; options: StoragesSearchOptions }[],
  turn: () => Promise<unknown>,
): Promise<StoragesOutcome> {
  if (named.length === 0 || named.length > mostStorages) {
    const reason = `1 to ${mostStorages} storages are expected, not ${named.length}`;
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'storages', reason });
  }
  const found: { name: string; storage: SearchableStorage; outcome: SearchOutcome }[] = [];
  for (const { name, storage, options } of named) {
    storage.checkResults(options);
    const own = { ...options, ...ofEach(options) };
    found.push({ name, storage, outcome: await storage.searchInTurns(own, turn) });
  }
  const [{ options }] = named as [(typeof named)[number]];
  const hits = await chosen(found, options);
  const outcomes = found.map(({ name, outcome: { hits: _, ...rest } }) => ({ ...rest, storage: name }));
  return { hits, outcomes };
}

/** The options of the search in each storage: it ranks what may be among the merged hits. */
function ofEach({ offset = 0, topK = 5, groupBy, dropDuplicates }: StoragesSearchOptions) {
  const longer = groupBy !== undefined || (dropDuplicates !== undefined && dropDuplicates !== false);
  const ranked = longer ? rankedHits : offset + topK;
  return {
    topK: ranked,
    offset: longer || offset > 0 ? 0 : undefined,
    groupBy: undefined,
    groupSize: undefined,
    context: undefined,
    contextField: undefined,
  };
}

async function chosen(
  found: readonly { name: string; storage: SearchableStorage; outcome: SearchOutcome }[],
  { offset = 0, topK = 5, groupBy, groupSize = 1, dropDuplicates, signal, ...options }: StoragesSearchOptions,
): Promise<StoragesHit[]> {
  let hits = merged(found.map(({ name, outcome }) => outcome.hits.map((hit) => ({ ...hit, storage: name }))));
  if (dropDuplicates !== undefined && dropDuplicates !== false) hits = withoutRepeats(hits);
  if (groupBy !== undefined) hits = grouped(hits, groupBy, groupSize);
  const page = hits.slice(offset, offset + topK).map((hit, index) => ({ ...hit, rank: offset + index + 1 }));
  if (!options.context) return page;
  const around = new Map<StoragesHit, StoragesHit>();
  for (const { name, storage } of found) {
    const own = page.filter((hit) => hit.storage === name);
    const field = storage.contextField(options);
    const shown = await withContext(own, { records: options.context, field }, storage.storage, signal);
    for (const [index, hit] of own.entries()) around.set(hit, shown[index] as StoragesHit);
  }
  return page.map((hit) => around.get(hit) as StoragesHit);
}

/** Merges rankings: the next hit is the most relevant head; of equal ones, the earlier ranking's. Keeps their orders. */
export function merged<Hit extends { readonly relevance: number }>(
  rankings: readonly (readonly Hit[])[],
): Hit[] {
  const next = rankings.map(() => 0);
  const hits: Hit[] = [];
  for (;;) {
    let best: number | undefined;
    for (const [index, ranking] of rankings.entries()) {
      const head = ranking[next[index] as number];
      if (head === undefined) continue;
      const leader = best === undefined ? undefined : rankings[best]?.[next[best] as number];
      if (leader === undefined || head.relevance > leader.relevance) best = index;
    }
    if (best === undefined) return hits;
    hits.push(rankings[best]?.[next[best] as number] as Hit);
    next[best] = (next[best] as number) + 1;
  }
}

/** Drops hits whose text an earlier one has. */
function withoutRepeats<Hit extends { readonly text: string }>(hits: readonly Hit[]): Hit[] {
  const seen = new Set<string>();
  return hits.filter(({ text }) => {
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}
