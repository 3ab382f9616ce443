import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { type NextSlice, Slices } from '../../lib/basics.js';
import { LorekeepError } from '../../lib/internal.js';
import { rankedHits } from './result-options.js';
import { addContext, grouped, page } from './results.js';
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

/** Like StoragesOutcome, with optional names. */
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
  /** Plan and times of each storage's search, in their order. */
  outcomes: (Omit<SearchOutcome, 'hits'> & { storage: string })[];
}

export type StoragesSearchOptions = Omit<KnowledgeSearchOptions, 'rerank' | 'similarTo' | 'vector'>;

/** Maximum number of storages of one search. */
const maxStorages = 16;

/**
 * Searches several storages and merges their rankings: the next hit is always the most relevant of the heads.
 * @throws INVALID_ARGUMENT for no storages or more than 16; as SearchableStorage.search()
 */
export async function searchStorages(
  storages: Readonly<Record<string, SearchableStorage<object>>>,
  options: StoragesSearchOptions,
): Promise<StoragesOutcome> {
  const given = (storages ?? {}) as Readonly<Record<string, SearchableStorage>>;
  const named = Object.entries(given).map(([name, storage]) => ({ name, storage, options }));
  const found = await searchNamed(named, ({ storage, options }) => storage.search(options));
  return found as StoragesOutcome;
}

/**
 * Runs each search by `run`, and merges the hits of several. Awaits `nextSlice` before each slice of the merge.
 * @throws INVALID_ARGUMENT; errors of `run`
 */
export async function searchNamed<Search extends NamedSearch>(
  searches: readonly Search[],
  run: (search: Search) => Promise<SearchOutcome>,
  nextSlice: NextSlice = nextTurnOfLoop,
): Promise<NamedOutcome> {
  if (searches.length === 0 || searches.length > maxStorages) {
    const reason = `1 to ${maxStorages} storages are expected, not ${searches.length}`;
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'storages', reason });
  }
  const [first] = searches as [Search];
  const { topK = first.storage.defaults.topK } = first.options;
  const merging = { ...first.options, topK };
  const slices = new Slices(nextSlice, merging.signal);
  const found: Found[] = [];
  for (const search of searches) {
    const { storage, name, options } = search;
    if (searches.length > 1) storage.check({ ...options, topK });
    const own = searches.length === 1 ? search : { ...search, options: { ...options, ...ofEach(merging) } };
    const { hits, ...outcome } = await run(own);
    await addName(hits, name, slices);
    found.push({ storage, hits, outcome: { ...outcome, storage: name } });
  }
  const hits =
    found.length === 1 ? (found[0] as Found).hits : await chosen(found, merging, { slices, nextSlice });
  return { hits, outcomes: found.map(({ outcome }) => outcome) };
}

type Merging = KnowledgeSearchOptions & { topK: number };

interface Found {
  readonly storage: SearchableStorage;
  readonly hits: NamedHit[];
  readonly outcome: NamedOutcome['outcomes'][number];
}

async function addName(hits: NamedHit[], storage: string | undefined, slices: Slices): Promise<void> {
  if (storage === undefined) return;
  await slices.each(hits, (hit) => {
    hit.storage = storage;
  });
}

/** The options of the search in each storage: it ranks the candidates of the merged hits. */
function ofEach({ offset = 0, topK, groupBy, dropDuplicates }: Merging) {
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
  { offset = 0, topK, groupBy, groupSize = 1, dropDuplicates, signal, ...options }: Merging,
  { slices, nextSlice }: { slices: Slices; nextSlice: NextSlice },
): Promise<NamedHit[]> {
  const dropsRepeats = dropDuplicates !== undefined && dropDuplicates !== false;
  const wanted = dropsRepeats || groupBy !== undefined ? Number.POSITIVE_INFINITY : offset + topK;
  let hits = await merged(
    found.map(({ hits }) => hits),
    wanted,
    slices,
  );
  if (dropsRepeats) hits = await withoutRepeats(hits, slices);
  if (groupBy !== undefined) hits = grouped(hits, groupBy, groupSize);
  const shown = page(hits, offset, topK);
  if (!options.context) return shown;
  for (const { storage, outcome } of found) {
    const own = shown.filter((hit) => hit.storage === outcome.storage);
    const context = { records: options.context, field: storage.contextField(options) };
    await addContext(own, context, storage.storage, { signal, nextSlice });
  }
  return shown;
}

/** Merges rankings up to `most` hits: the next is the most relevant head; of equal ones, the earlier ranking's. Keeps their orders. */
async function merged<Hit extends { readonly relevance: number }>(
  rankings: readonly (readonly Hit[])[],
  most: number,
  slices: Slices,
): Promise<Hit[]> {
  const next = new Int32Array(rankings.length);
  const heads = Float64Array.from(rankings, ([head]) => head?.relevance ?? Number.NEGATIVE_INFINITY);
  const all = rankings.reduce((sum, { length }) => sum + length, 0);
  const hits: Hit[] = [];
  while (hits.length < Math.min(all, most)) {
    if (slices.over) await slices.next();
    let best = 0;
    for (let ranking = 1; ranking < heads.length; ranking++)
      if ((heads[ranking] as number) > (heads[best] as number)) best = ranking;
    const ranking = rankings[best] as readonly Hit[];
    const at = next[best] as number;
    hits.push(ranking[at] as Hit);
    next[best] = at + 1;
    heads[best] = ranking[at + 1]?.relevance ?? Number.NEGATIVE_INFINITY;
  }
  return hits;
}

/** Drops hits whose text an earlier one has. */
async function withoutRepeats<Hit extends { readonly text: string }>(
  hits: readonly Hit[],
  slices: Slices,
): Promise<Hit[]> {
  const seen = new Set<string>();
  const kept: Hit[] = [];
  await slices.each(hits, (hit) => {
    if (!seen.has(hit.text)) kept.push(hit);
    seen.add(hit.text);
  });
  return kept;
}
