import { randomUUID } from 'node:crypto';

const wideInteger = /^-?\d{16,19}$/;

/** Returns the exact value of an integer in JSON that a number would round, of at most 64 bits; undefined for other tokens. */
export function wideIntegerOf(token: string): bigint | undefined {
  if (!wideInteger.test(token) || Number.isSafeInteger(Number(token))) return undefined;
  const value = BigInt(token);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

const quote = 0x22;
const backslash = 0x5c;

/** The characters of a number. */
const numberAt = /-?\d[\d.eE+-]*/y;

/** Beginnings of the numbers that may be wide integers. */
const longNumbers = /(?<![\d.eE+-])-?\d{16}/g;

/**
 * Returns a JSON text in which the numbers that `isMarked` names are strings that begin with the mark; undefined if there are none.
 * `begins` matches the beginnings of the numbers that may be marked. Takes strings of any length: a regular expression for them would
 * run out of stack.
 */
export function markNumbers(
  text: string,
  mark: string,
  isMarked: (token: string) => boolean,
  begins = longNumbers,
): string | undefined {
  let marked = '';
  let copied = 0;
  let at = 0;
  let inString = false;
  for (const { index } of text.matchAll(begins)) {
    for (; at < index; at++) {
      const code = text.charCodeAt(at);
      if (code === quote) inString = !inString;
      else if (inString && code === backslash) at++;
    }
    if (inString) continue;
    numberAt.lastIndex = index;
    const [token = ''] = numberAt.exec(text) ?? [];
    if (!isMarked(token)) continue;
    marked += `${text.slice(copied, index)}"${mark}${token}"`;
    copied = index + token.length;
  }
  return copied === 0 ? undefined : marked + text.slice(copied);
}

/** Returns a JSON text in which integers of 64 bits beyond 2^53 are strings that begin with the mark; undefined if it has none. */
export const markWideIntegers = (text: string, mark: string): string | undefined =>
  markNumbers(text, mark, (token) => wideIntegerOf(token) !== undefined);

/** Whether a token is an integer that a number would round, of any size. */
export const isRoundedInteger = (token: string): boolean =>
  /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));

/**
 * Parses as JSON.parse does, but integers beyond 2^53 become BigInts: those that `isExact` names, by default of 64 bits.
 * @throws SyntaxError
 */
export function parseWithWideIntegers(
  text: string,
  isExact = (token: string) => wideIntegerOf(token) !== undefined,
): unknown {
  const rounded: unknown = JSON.parse(text);
  const mark = randomUUID();
  const marked = markNumbers(text, mark, isExact);
  if (marked === undefined) return rounded;
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

/** Returns what JSON.stringify gives, and BigInts as integers. */
export function stringifyWithWideIntegers(value: unknown): string {
  const mark = randomUUID();
  let isWide = false;
  const text = JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== 'bigint') return item;
    isWide = true;
    return `${mark}${item}`;
  });
  if (!isWide) return text;
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}
