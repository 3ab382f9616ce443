/** A string, or a number with all characters that it may have. */
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;

const isRounded = (token: string) => /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));

/** No text of a document begins with these private characters. */
const mark = '\uE0F1\uE0F2lorekeep:';

/**
 * Parses as JSON.parse does, but integers that a number would round become BigInts, whatever their size.
 * @throws SyntaxError; RangeError for such a text that is nested too deeply
 */
export function parseExactly(text: string): unknown {
  const rounded: unknown = JSON.parse(text);
  if (!/\d{16}/.test(text) || text.includes(mark)) return rounded;
  const marked = text.replace(stringOrNumber, (token) => (isRounded(token) ? `"${mark}${token}"` : token));
  if (marked === text) return rounded;
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}
