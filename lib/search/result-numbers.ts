import { indexHit, searchPaths } from '../boundary/layout.gen.js';

let numbers = new Float64Array(1024);

/** Returns the buffer for a synchronous search's result. It is reused: read it before the next search. */
export function resultNumbers(length: number): Float64Array {
  if (numbers.length < length) numbers = new Float64Array(2 * length);
  return numbers;
}

export type SearchPath = (typeof searchPaths)[number];

export const searchPathOf = (number: number): SearchPath => searchPaths[number] as SearchPath;

/** Reads `count` index hits from `begin` on: ordinals, and scores or distances. */
export function readHits(
  numbers: Float64Array,
  begin: number,
  count: number,
): { ordinals: Uint32Array; values: Float32Array } {
  const ordinals = new Uint32Array(count);
  const values = new Float32Array(count);
  for (let i = 0, at = begin; i < count; i++, at += indexHit.numbers) {
    ordinals[i] = numbers[at + indexHit.ordinal] as number;
    values[i] = numbers[at + indexHit.value] as number;
  }
  return { ordinals, values };
}
