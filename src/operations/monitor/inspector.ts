import { z } from 'zod';
import type { StorageHit } from '../../../lib/internal.js';
import { textPrefix } from '../../agents/text-prefix.js';
import type { SearchableStorage, SearchOutcome } from '../../knowledge/index.js';
import { retrievalFields } from '../../protocol/retrieval.js';
import { libraryOptions, usedVariables } from '../../storages/search-options.js';
import { type Compute, deepestRank, InspectedSearch, type Leg } from './inspected-search.js';
import { explainRecord } from './record-explanation.js';

/** Hits of a leg that are shown. */
const shownHits = 20;

/** The reranker is left out: it sorts the hits of this search. */
const { rerank, ...searchFields } = retrievalFields;

export const inspectionSchema = z.strictObject({
  ...searchFields,
  mode: searchFields.mode.default('hybrid'),
  top_k: searchFields.top_k.default(10),
  storage: z.string().min(1),
  text: z.string().min(1).max(32_768),
  /** Values of the filter's variables. */
  variables: z.record(z.string(), z.unknown()).default({}),
  /** Id of a record that was expected. */
  record: z.string().max(4096).optional(),
});

export type InspectionRequest = z.output<typeof inspectionSchema>;

interface InspectedHit extends Omit<StorageHit, 'text'> {
  text: string;
}

export interface InspectedLeg {
  hits: InspectedHit[];
  /** Why the leg alone found nothing, such as a text without words. */
  problem?: string;
}

export interface Inspection {
  hits: InspectedHit[];
  dense: InspectedLeg;
  lexical: InspectedLeg;
  /** Hits of the same search without the filter that the filter removed. */
  removed: InspectedHit[];
  plan: SearchOutcome['plan'];
  embedMs: number;
  searchMs: number;
  /** Why the asked record is or is not among the hits. */
  record?: string;
}

interface InspectionOptions {
  signal: AbortSignal;
  /** Names of the storages with a record of this id. */
  holders(id: string): Promise<readonly string[]>;
  compute: Compute;
}

/** Runs a search as a node with these fields does, each of its legs, and the search without its filter. @throws as search() */
export async function inspect(
  storage: SearchableStorage,
  request: InspectionRequest,
  { signal, holders, compute }: InspectionOptions,
): Promise<Inspection> {
  const { record } = request;
  const search = new InspectedSearch(storage, optionsOf(storage, request, signal), compute);
  const outcome = await search.run();
  const depth = record === undefined ? shownHits : deepestRank;
  const [dense, lexical] = [await search.leg('dense', depth), await search.leg('lexical', depth)];
  const unfiltered =
    search.options.filter === undefined ? [] : (await search.run({ filter: undefined })).hits;
  const kept = new Set([...outcome.hits, ...dense.hits, ...lexical.hits].map(({ ordinal }) => ordinal));
  return {
    hits: outcome.hits.map(shown),
    dense: shownLeg(dense),
    lexical: shownLeg(lexical),
    removed: unfiltered.filter(({ ordinal }) => !kept.has(ordinal)).map(shown),
    plan: outcome.plan,
    embedMs: outcome.embedMs,
    searchMs: outcome.searchMs,
    ...(record !== undefined && {
      record: await explainRecord(record, { search, outcome, dense, lexical, holders }),
    }),
  };
}

function optionsOf(storage: SearchableStorage, request: InspectionRequest, signal: AbortSignal) {
  const { storage: name, record, variables, text, ...retrieval } = request;
  const given = { ...retrieval, filter: retrieval.filter ?? undefined };
  const options = storage.prepare(libraryOptions(given));
  return { ...options, text, variables: usedVariables(options.filter, variables), signal };
}

const longestShown = 500;

function shownLeg({ hits, problem }: Leg): InspectedLeg {
  return { hits: hits.slice(0, shownHits).map(shown), ...(problem !== undefined && { problem }) };
}

function shown(hit: StorageHit): InspectedHit {
  return { ...hit, text: textPrefix(hit.text, longestShown) };
}
