import { AnyLorekeepError } from '../../../lib/basics.js';

/** Statistics of the cosines between a query and sampled records. */
export interface Background {
  readonly mean: number;
  /** Mean of the least quarter. */
  readonly floor: number;
}

/** Number of sampled records, as in native/store/background.h. */
export const sampledRows = 64;

/** Returns the ordinals of the sampled records of `size`. */
export function sampledOrdinals(size: number): number[] {
  const count = Math.min(size, sampledRows);
  return Array.from({ length: count }, (_, index) => Math.floor((index * size) / count));
}

/** Returns the statistics for a query. `rows`: of length 1, as the query need not be. */
export function backgroundOf(rows: readonly Float32Array[], query: Float32Array): Background {
  if (rows.length === 0) return { mean: 0, floor: 0 };
  const unit = normalised(query);
  const cosines = rows.map((row) => dot(row, unit)).toSorted((a, b) => a - b);
  const mean = (of: readonly number[]) => of.reduce((sum, one) => sum + one, 0) / of.length;
  return { mean: mean(cosines), floor: mean(cosines.slice(0, Math.max(1, Math.floor(cosines.length / 4)))) };
}

/** Returns a vector of length 1; one of zeros as it is. */
export function normalised(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length > 0 ? vector.map((value) => value / length) : vector;
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** Returns a vector as Postgres reads it. */
export const vectorText = (vector: ArrayLike<number>): string => `[${Array.from(vector).join(',')}]`;

/** Reads a vector as Postgres writes it. @throws CORRUPT */
export function vectorOf(text: string): Float32Array {
  const vector = Float32Array.from(text.slice(1, -1).split(','), Number);
  if (vector.every(Number.isFinite)) return vector;
  throw AnyLorekeepError.about('CORRUPT', { reason: 'the table has an embedding that is none' });
}
