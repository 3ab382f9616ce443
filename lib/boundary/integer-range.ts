/** Largest bound. */
const most = 10 ** 15;

/** Digits of integers without a bound on that side. */
const openDigits = 15;

/**
 * Returns a GBNF expression for the integers from `least` to `greatest`, both included; undefined: no bound on that side.
 * Returns undefined if there are none, or a bound is too large.
 */
export function integerRange(least: number | undefined, greatest: number | undefined): string | undefined {
  for (const bound of [least, greatest]) if (bound !== undefined && Math.abs(bound) > most) return undefined;
  const parts: string[] = [];
  const low = least ?? -(10 ** openDigits - 1);
  const high = greatest ?? 10 ** openDigits - 1;
  if (low > high) return undefined;
  if (low < 0) parts.push(`"-" (${unsigned(Math.max(1, -high), -low)})`);
  if (high >= 0) parts.push(unsigned(Math.max(0, low), high));
  return `(${parts.join(' | ')})`;
}

/** The integers from `low` to `high`, 0 <= low <= high, by number of digits. */
function unsigned(low: number, high: number): string {
  const parts: string[] = [];
  for (let digits = String(low).length; digits <= String(high).length; digits++) {
    const from = Math.max(low, digits === 1 ? 0 : 10 ** (digits - 1));
    const to = Math.min(high, 10 ** digits - 1);
    parts.push(sameLength(String(from), String(to)));
  }
  return parts.join(' | ');
}

/** The digit strings from `from` to `to`, which have the same length. */
function sameLength(from: string, to: string): string {
  const [first = '', last = ''] = [from[0], to[0]];
  if (from.length === 1) return digit(first, last);
  const [restFrom, restTo] = [from.slice(1), to.slice(1)];
  const zeros = '0'.repeat(restFrom.length);
  const nines = '9'.repeat(restFrom.length);
  if (first === last) return `"${first}" (${sameLength(restFrom, restTo)})`;
  if (restFrom === zeros && restTo === nines) return `${digit(first, last)} ${anyDigits(restFrom.length)}`;
  const parts = [];
  let [begin, end] = [Number(first), Number(last)];
  if (restFrom !== zeros) {
    parts.push(`"${first}" (${sameLength(restFrom, nines)})`);
    begin++;
  }
  const tail = restTo === nines ? undefined : `"${last}" (${sameLength(zeros, restTo)})`;
  if (tail !== undefined) end--;
  if (begin <= end) parts.push(`${digit(String(begin), String(end))} ${anyDigits(restFrom.length)}`);
  if (tail !== undefined) parts.push(tail);
  return parts.join(' | ');
}

const digit = (first: string, last: string) => (first === last ? `"${first}"` : `[${first}-${last}]`);
const anyDigits = (count: number) => (count === 1 ? '[0-9]' : `[0-9]{${count}}`);
