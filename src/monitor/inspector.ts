import { z } from 'zod';
import { type FilterExpression, LorekeepError, type StorageHit } from '../../lib/index.js';
import { textPrefix } from '../agents/text-prefix.js';
import type { SearchableStorage, SearchOutcome } from '../knowledge/index.js';
import { deepestRank, explainRecord, type Leg } from './record-explanation.js';

/** Hits of a leg that are shown. */
const shownHits = 20;

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

/** Runs a search, each of its legs and the search without its filter. @throws as SearchableStorage.search() */
export async function inspect(
  storage: SearchableStorage,
  { text, mode, top_k: topK, filter: given, record }: InspectionRequest,
  signal: AbortSignal,
): Promise<Inspection> {
  const filter = given === null ? undefined : (given as FilterExpression | undefined);
  const search = (options: object) => storage.search({ text, mode, topK, signal, filter, ...options });
  const outcome = await search({});
  const depth = record === undefined ? shownHits : deepestRank;
  const leg = (name: 'dense' | 'lexical') => legAlone(() => search({ mode: name, topK: depth }));
  const [dense, lexical] = [await leg('dense'), await leg('lexical')];
  const unfiltered = filter === undefined ? [] : (await search({ filter: undefined })).hits;
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
      record: await explainRecord(record, { storage, filter, mode, outcome, dense, lexical, search, signal }),
    }),
  };
}

/** A leg that the mode does not need may be impossible: a text without words, or longer than the model's context. */
async function legAlone(search: () => Promise<SearchOutcome>): Promise<Leg> {
  try {
    return { hits: (await search()).hits };
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code === 'CANCELLED') throw error;
    return { hits: [], problem: error.message };
  }
}

const longestShown = 500;

function shownLeg({ hits, problem }: Leg): InspectedLeg {
  return { hits: hits.slice(0, shownHits).map(shown), ...(problem !== undefined && { problem }) };
}

function shown(hit: StorageHit): InspectedHit {
  return { ...hit, text: textPrefix(hit.text, longestShown) };
}
