import { integerArgument, refuse, type SearchMode, type Storage } from '../../lib/internal.js';

/** How the hits of a search are chosen from its ranking, and their context records. */
export interface ResultOptions {
  /** Hits to skip: the next page begins at `offset + topK`. Default 0. */
  offset?: number | undefined;
  /** Field whose values have at most `groupSize` hits each. Records without the field are not grouped. */
  groupBy?: string | undefined;
  /** Hits per value of `groupBy`. Default 1. */
  groupSize?: number | undefined;
  /**
   * Drops each hit whose embedding is at most this cosine distance from a better hit's. true: 0.05. Default:
   * false.
   */
  dropDuplicates?: boolean | number | undefined;
  /** Adds this many records before and after each hit, in the storage's order: 0 to 10. Default 0. */
  context?: number | undefined;
  /** Field whose value the records around a hit share with it. Default: `path` if there is such a field. */
  contextField?: string | undefined;
  /** Id of a record: finds those nearest to it, without itself. Takes the place of `text`. */
  similarTo?: string | undefined;
}

/** Hits that are ranked for a search with `offset`, `groupBy` or `dropDuplicates`. */
export const rankedHits = 1000;

const maxContext = 10;
const defaultDistance = 0.05;

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
}

/** Returns how to choose the hits; undefined for the best `topK` as they are. @throws INVALID_ARGUMENT */
export function resultChoice(
  options: ResultOptions & { topK?: number | undefined; mode: SearchMode },
  storage: Storage,
): ResultChoice | undefined {
  const { groupBy, groupSize, context = 0, contextField, similarTo } = options;
  const topK = integerArgument('topK', options.topK, 5, 1, rankedHits);
  const offset = integerArgument('offset', options.offset, 0, 0, rankedHits);
  integerArgument('context', context, 0, 0, maxContext);
  if (groupBy === undefined && groupSize !== undefined)
    refuse('groupSize', 'it has no effect without a field to group by');
  if (context === 0 && contextField !== undefined)
    refuse('contextField', 'it has no effect without records around the hits');
  if (offset + topK > rankedHits)
    refuse(
      'offset',
      `the skipped and the wanted hits are at most ${rankedHits} together, and these are ${offset + topK}`,
    );
  if (similarTo !== undefined) checkSimilar(options);
  const distance = duplicateDistance(options.dropDuplicates);
  const group = groupBy === undefined ? undefined : groupOf(groupBy, groupSize, storage);
  const whole = options.offset !== undefined || group !== undefined || distance !== undefined;
  if (!whole && similarTo === undefined && context === 0) return undefined;
  const ranked = whole ? rankedHits : Math.min(rankedHits, topK + (similarTo === undefined ? 0 : 1));
  const field = context === 0 ? undefined : contextFieldOf(contextField, storage);
  return {
    offset,
    topK,
    ranked,
    group,
    distance,
    context: context === 0 ? undefined : { records: context, field },
    similarTo,
  };
}

/** The distance up to which a hit is a duplicate; undefined if duplicates are kept. 0 drops equal embeddings. */
function duplicateDistance(dropDuplicates: boolean | number | undefined): number | undefined {
  if (dropDuplicates === undefined || dropDuplicates === false) return undefined;
  if (dropDuplicates === true) return defaultDistance;
  if (typeof dropDuplicates === 'number' && dropDuplicates >= 0 && dropDuplicates <= 2) return dropDuplicates;
  return refuse('dropDuplicates', 'true, false or a cosine distance from 0 to 2 is expected');
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

function groupOf(field: string, size: number | undefined, storage: Storage): { field: string; size: number } {
  const found = fieldOf('groupBy', field, storage);
  if (found.type === 'set<string>')
    refuse('groupBy', `${JSON.stringify(field)} has several values per record`);
  return { field, size: integerArgument('groupSize', size, 1, 1, rankedHits) };
}

/** The field that keeps the records around a hit together; undefined: any records. */
function contextFieldOf(field: string | undefined, storage: Storage): string | undefined {
  if (field !== undefined) return fieldOf('contextField', field, storage).name;
  return storage.fields?.find(({ name, type }) => name === 'path' && type === 'string')?.name;
}

function fieldOf(option: string, field: string, storage: Storage) {
  const { fields = [] } = storage;
  const found = fields.find(({ name }) => name === field);
  if (found !== undefined) return found;
  const names = fields.map(({ name }) => name).join(', ');
  refuse(
    option,
    `the records have no field ${JSON.stringify(field)}; they have ${names === '' ? 'none' : names}`,
  );
}
