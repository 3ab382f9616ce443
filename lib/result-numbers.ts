let numbers = new Float64Array(1024);

/** Where the addon writes the numbers of a search that runs now: the same memory each time, to be read at once. */
export function resultNumbers(length: number): Float64Array {
  if (numbers.length < length) numbers = new Float64Array(2 * length);
  return numbers;
}
