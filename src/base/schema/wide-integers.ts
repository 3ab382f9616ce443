import { randomUUID } from 'node:crypto';

const wideInteger = /^-?\d{16,19}$/;

/** Returns the exact value of an integer in JSON that a number would round, of at most 64 bits; undefined for other tokens. */
export function wideIntegerOf(token: string): bigint | undefined {
  if (!wideInteger.test(token) || Number.isSafeInteger(Number(token))) return undefined;
  const value = BigInt(token);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** A string, or a number with all characters that it may have. */
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;

/** Parses as JSON.parse does, but integers of 64 bits beyond 2^53 become BigInts. @throws SyntaxError */
export function parseWithWideIntegers(text: string): unknown {
  const rounded: unknown = JSON.parse(text);
  const mark = randomUUID();
  const marked = text.replace(stringOrNumber, (token) =>
    wideIntegerOf(token) === undefined ? token : `"${mark}${token}"`,
  );
  if (marked === text) return rounded;
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
