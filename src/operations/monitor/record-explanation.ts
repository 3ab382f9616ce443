import type { StorageHit } from '../../../lib/internal.js';
import { textPrefix } from '../../agents/text-prefix.js';
import { stringifyWithWideIntegers } from '../../base/schema/wide-integers.js';
import type { SearchOutcome } from '../../knowledge/index.js';
import { deepestRank, type InspectedOptions, type InspectedSearch, type Leg } from './inspected-search.js';

export interface Inspected {
  search: InspectedSearch;
  outcome: SearchOutcome;
  /** Each leg alone, `deepestRank` deep. */
  dense: Leg;
  lexical: Leg;
  /** Names of other loaded storages with a record of this id. */
  holders(id: string): Promise<readonly string[]>;
}

/** Longest id and longest metadata of an answer, in characters. */
const longestId = 128;
const longestMetadata = 2000;

/** Options that drop hits. */
const dropping: readonly { name: string; without: Partial<InspectedOptions> }[] = [
  { name: 'threshold', without: { threshold: undefined } },
  { name: 'min_score', without: { minScore: undefined } },
  { name: 'min_best', without: { minBest: undefined } },
  { name: 'min_by_leg', without: { minByLeg: undefined } },
  { name: 'offset', without: { offset: undefined } },
  { name: 'group_by', without: { groupBy: undefined, groupSize: undefined } },
  { name: 'drop_duplicates', without: { dropDuplicates: undefined } },
];

const short = (value: number) => value.toPrecision(4);
const own = (hits: readonly StorageHit[], id: string) => hits.find((hit) => hit.id === id);

/** Says why a record is or is not among the hits of a search. */
export async function explainRecord(id: string, inspected: Inspected): Promise<string> {
  const { outcome, holders, search } = inspected;
  const { filter, variables, signal } = search.options;
  const name = textPrefix(id, longestId);
  const hit = own(outcome.hits, id);
  if (hit !== undefined) return `${name} is hit ${hit.rank}.`;
  const record = await search.storage.get(id, { signal });
  if (record === undefined) {
    const others = await holders(id);
    const elsewhere = others.length === 0 ? '' : ` This one has it: ${others.join(', ')}.`;
    return `The storage has no record ${JSON.stringify(name)}.${elsewhere}`;
  }
  if (filter !== undefined && !(await matches(search, record.ordinal))) {
    const metadata = textPrefix(stringifyWithWideIntegers(record.metadata ?? {}), longestMetadata);
    const without = await legRanks(id, search, { filter: undefined });
    const given =
      variables === undefined || Object.keys(variables).length === 0 ? '' : ' with these variables';
    return `The filter${given} removes ${name}. Its metadata: ${metadata}. Without the filter: ${without}.`;
  }
  return [
    `${name} is ${await placeOf(id, inspected)}.`,
    ...(await causes(id, search)),
    `Each leg alone: ${await legRanks(id, search, { threshold: undefined })}.`,
  ].join(' ');
}

/** Where the record is in the ranking that the hits are chosen from. */
async function placeOf(id: string, { search, outcome, dense, lexical }: Inspected): Promise<string> {
  const last = outcome.hits.at(-1);
  const limit =
    last === undefined
      ? '; the search has no hits'
      : `; the last of ${outcome.hits.length} hits has score ${short(last.score)}`;
  const ranking = await search.ranking();
  const found = own(ranking, id);
  if (found !== undefined) return `at rank ${found.rank} (score ${short(found.score)})${limit}`;
  if (search.options.mode !== 'hybrid') return `no candidate of the search${limit}`;
  const { candidates } = search;
  const isCandidate = [dense, lexical].some(({ hits }) => own(hits.slice(0, candidates), id) !== undefined);
  return isCandidate
    ? `not among the first ${ranking.length}${limit}`
    : `no candidate: each leg gives its first ${candidates}${limit}`;
}

/** Returns the options that keep the record from being a hit: without any one of them, it would be one. */
async function causes(id: string, search: InspectedSearch): Promise<string[]> {
  const found: string[] = [];
  for (const { name, without } of dropping) {
    const given = Object.keys(without).some(
      (key) => search.options[key as keyof InspectedOptions] !== undefined,
    );
    const hit = given ? own((await search.run(without)).hits, id) : undefined;
    if (hit !== undefined) found.push(`Without ${name} it is hit ${hit.rank}.`);
  }
  return found;
}

/** Whether a record passes the filter. The matching records are in order, so a few steps find it among them. */
async function matches({ storage, options }: InspectedSearch, ordinal: number): Promise<boolean> {
  const { filter, variables, signal } = options;
  let low = 0;
  let high = await storage.count({ filter, variables, signal });
  while (low < high) {
    const offset = Math.floor((low + high) / 2);
    const [found] = await storage.list({ filter, variables, offset, limit: 1, signal });
    if (found === undefined || found.ordinal === ordinal) return found !== undefined;
    if (found.ordinal < ordinal) low = offset + 1;
    else high = offset;
  }
  return false;
}

/** Where the legs that the mode uses have the record, in searches with other options. */
async function legRanks(
  id: string,
  search: InspectedSearch,
  changes: Partial<InspectedOptions>,
): Promise<string> {
  const ranks: string[] = [];
  for (const leg of ['dense', 'lexical'] as const) {
    const { mode } = search.options;
    if (mode !== 'hybrid' && mode !== leg) continue;
    const { hits, problem } = await search.leg(leg, deepestRank, changes);
    ranks.push(
      `${leg === 'dense' ? 'by meaning' : 'by words'} ${problem ?? legRank(id, leg, hits, search.options.threshold)}`,
    );
  }
  return ranks.join('; ');
}

function legRank(
  id: string,
  leg: 'dense' | 'lexical',
  hits: readonly StorageHit[],
  threshold = Number.POSITIVE_INFINITY,
): string {
  const hit = own(hits, id);
  if (hit !== undefined) {
    const { rank, distance = 0, bm25Score = 0 } = hit;
    const above = distance > threshold ? ', above the threshold' : '';
    const score = leg === 'dense' ? `distance ${short(distance)}${above}` : `BM25 ${short(bm25Score)}`;
    return `it is at rank ${rank} (${score})`;
  }
  if (hits.length === deepestRank) return `it is not among the first ${deepestRank}`;
  // The leg by words finds every record that matches; a graph search may miss records.
  return leg === 'lexical' ? 'it does not match the words of the query' : 'the search does not reach it';
}
