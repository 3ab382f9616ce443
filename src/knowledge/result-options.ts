import { type ResultOptions as ChoiceOptions, rankingOptions, resultOptions } from '../../lib/basics.js';
import type { SearchMode } from '../../lib/internal.js';
import { optionsCheck, refuse } from '../../lib/internal.js';
import { type ScoreFactors, scoreFactors, weightedHits } from './score-factors.js';
import type { StorageEngine } from './storage-engine.js';

/** How the hits of a search are chosen from its ranking, and their context records. */
export interface ResultOptions extends ChoiceOptions {
  /** Id of a record: finds those nearest to it, without itself. Takes the place of `text`. */
  similarTo?: string | undefined;
}

/** Hits that are ranked for a search with `offset`, `groupBy` or `dropDuplicates`. */
export const rankedHits = 1000;

/** Checked result options. */
export interface ResultChoice {
  offset: number;
  topK: number;
  /** Hits to rank. */
  ranked: number;
  group: { field: string; size: number } | undefined;
  /** Undefined: duplicates are kept. */
  distance: number | undefined;
  context: { records: number; field: string | undefined } | undefined;
  similarTo: string | undefined;
  factors: ScoreFactors | undefined;
}

const check = optionsCheck({ topK: rankingOptions.topK, ...resultOptions });

/** Returns how to choose the hits; undefined for the best `topK` as they are. @throws INVALID_ARGUMENT */
export function resultChoice(
  options: ResultOptions & { topK: number; mode: SearchMode },
  storage: StorageEngine,
): ResultChoice | undefined {
  check(options);
  const { topK, offset = 0, groupBy, groupSize = 1, context = 0, contextField, similarTo } = options;
  if (groupBy === undefined && options.groupSize !== undefined)
    refuse('groupSize', 'it has no effect without a field to group by');
  if (context === 0 && contextField !== undefined)
    refuse('contextField', 'it has no effect without records around the hits');
  if (offset + topK > rankedHits)
    refuse(
      'offset',
      `the skipped and the wanted hits are at most ${rankedHits} together, and these are ${offset + topK}`,
    );
  if (similarTo !== undefined) checkSimilar(options);
  const { dropDuplicates: drop } = options;
  // 0 drops equal embeddings.
  const distance = drop === true ? resultOptions.dropDuplicates.alone : drop === false ? undefined : drop;
  const group = groupBy === undefined ? undefined : groupOf(groupBy, groupSize, storage);
  const factors = scoreFactors(options, storage);
  if (factors !== undefined && (options as { rerank?: unknown }).rerank !== undefined)
    refuse(
      options.recency === undefined ? 'importance' : 'recency',
      'it has no effect with rerank, which orders the hits',
    );
  const whole = options.offset !== undefined || group !== undefined || distance !== undefined;
  if (!whole && similarTo === undefined && context === 0 && factors === undefined) return undefined;
  const wanted = (factors === undefined ? topK : weightedHits(topK)) + (similarTo === undefined ? 0 : 1);
  const ranked = whole ? rankedHits : Math.min(rankedHits, wanted);
  const field = context === 0 ? undefined : contextFieldOf(contextField, storage);
  return {
    offset,
    topK,
    ranked,
    group,
    distance,
    context: context === 0 ? undefined : { records: context, field },
    similarTo,
    factors,
  };
}

function checkSimilar({ similarTo, mode, ...rest }: ResultOptions & { mode: SearchMode }): void {
  if (typeof similarTo !== 'string') refuse('similarTo', 'the id of a record is expected');
  if (mode !== 'dense') refuse('mode', `a search with similarTo is dense, not ${mode}`);
  const { text, vector, highlight, rerank } = rest as Record<string, unknown>;
  if (text !== undefined && text !== '')
    refuse('similarTo', 'one of text and similarTo is expected, not both');
  if (vector !== undefined) refuse('similarTo', 'it takes the place of vector; give one of them');
  const withoutText = 'it has no effect with similarTo, which has no text';
  if (highlight) refuse('highlight', withoutText);
  if (rerank !== undefined) refuse('rerank', withoutText);
}

function groupOf(field: string, size: number, storage: StorageEngine): { field: string; size: number } {
  const found = fieldOf('groupBy', field, storage);
  if (found.type === 'set<string>')
    refuse('groupBy', `${JSON.stringify(field)} has several values per record`);
  return { field, size };
}

/** The field that keeps the records around a hit together; undefined: any records. */
function contextFieldOf(field: string | undefined, storage: StorageEngine): string | undefined {
  if (field !== undefined) return fieldOf('contextField', field, storage).name;
  return storage.fields?.find(({ name, type }) => name === 'path' && type === 'string')?.name;
}

function fieldOf(option: string, field: string, storage: StorageEngine) {
  const { fields = [] } = storage;
  const found = fields.find(({ name }) => name === field);
  if (found !== undefined) return found;
  const names = fields.map(({ name }) => name).join(', ');
  refuse(
    option,
    `the records have no field ${JSON.stringify(field)}; they have ${names === '' ? 'none' : names}`,
  );
}
