import { LorekeepError } from '../../lib/index.js';
import { rankedHits } from './result-options.js';
import { grouped, withContext } from './results.js';
import type { KnowledgeSearchOptions } from './search-options.js';
import type { SearchableStorage, SearchHit, SearchOutcome } from './searchable.js';

/** A search in one storage. Options that choose hits are the same for all searches that are merged. */
export interface NamedSearch {
  readonly storage: SearchableStorage;
  /** Its name in the outcome. */
  readonly name?: string | undefined;
  readonly options: KnowledgeSearchOptions;
}

export type NamedHit = SearchHit & { storage?: string };

/** As StoragesOutcome. */
export interface NamedOutcome {
  hits: NamedHit[];
  outcomes: (Omit<SearchOutcome, 'hits'> & { storage?: string | undefined })[];
}

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
  const found = await searchNamed(named, ({ storage, options }) => storage.search(options));
  return found as StoragesOutcome;
}

/** Runs each search by `run`, and merges the hits of several. @throws INVALID_ARGUMENT; errors of `run` */
export async function searchNamed<Search extends NamedSearch>(
  searches: readonly Search[],
  run: (search: Search) => Promise<SearchOutcome>,
): Promise<NamedOutcome> {
  if (searches.length === 0 || searches.length > mostStorages) {
    const reason = `1 to ${mostStorages} storages are expected, not ${searches.length}`;
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'storages', reason });
  }
  const [first] = searches as [Search];
  const found: Found[] = [];
  for (const search of searches) {
    const { storage, name, options } = search;
    if (searches.length > 1) storage.checkResults(options);
    const own = searches.length === 1 ? search : { ...search, options: { ...options, ...ofEach(options) } };
    const { hits, ...outcome } = await run(own);
    found.push({ storage, hits: named(hits, name), outcome: { ...outcome, storage: name } });
  }
  const hits = found.length === 1 ? (found[0] as Found).hits : await chosen(found, first.options);
  return { hits, outcomes: found.map(({ outcome }) => outcome) };
}

interface Found {
  readonly storage: SearchableStorage;
  readonly hits: NamedHit[];
  readonly outcome: NamedOutcome['outcomes'][number];
}

const named = (hits: SearchHit[], storage: string | undefined): NamedHit[] =>
  storage === undefined ? hits : hits.map((hit) => ({ ...hit, storage }));

/** The options of the search in each storage: it ranks what may be among the merged hits. */
function ofEach({ offset = 0, topK = 5, groupBy, dropDuplicates }: KnowledgeSearchOptions) {
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
  found: readonly Found[],
  {
    offset = 0,
    topK = 5,
    groupBy,
    groupSize = 1,
    dropDuplicates,
    signal,
    ...options
  }: KnowledgeSearchOptions,
): Promise<NamedHit[]> {
  let hits = merged(found.map(({ hits }) => hits));
  if (dropDuplicates !== undefined && dropDuplicates !== false) hits = withoutRepeats(hits);
  if (groupBy !== undefined) hits = grouped(hits, groupBy, groupSize);
  const page = hits.slice(offset, offset + topK).map((hit, index) => ({ ...hit, rank: offset + index + 1 }));
  if (!options.context) return page;
  const around = new Map<NamedHit, NamedHit>();
  for (const { storage, outcome } of found) {
    const own = page.filter((hit) => hit.storage === outcome.storage);
    const field = storage.contextField(options);
    const shown = await withContext(own, { records: options.context, field }, storage.storage, signal);
    for (const [index, hit] of own.entries()) around.set(hit, shown[index] as NamedHit);
  }
  return page.map((hit) => around.get(hit) as NamedHit);
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
