let numbers = new Float64Array(1024);

/** Where the addon writes the numbers of a search that runs now: the same memory each time, to be read at once. */
export function resultNumbers(length: number): Float64Array {
  if (numbers.length < length) numbers = new Float64Array(2 * length);
  return numbers;
}

/** How a search by meaning went, by the addon's number for it. */
const searchPaths = ['exact', 'graph', 'cells'] as const;

export type SearchPath = (typeof searchPaths)[number];

export const searchPathOf = (number: number): SearchPath => searchPaths[number] as SearchPath;

/** `count` hits that lie there from `begin` on, each its ordinal and its score or distance. */
export function readPairs(
  numbers: Float64Array,
  begin: number,
  count: number,
): { ordinals: Uint32Array; values: Float32Array } {
  const ordinals = new Uint32Array(count);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    ordinals[i] = numbers[begin + 2 * i] as number;
    values[i] = numbers[begin + 2 * i + 1] as number;
  }
  return { ordinals, values };
}
