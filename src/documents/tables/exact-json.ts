import { type ParseError, parse as parseWithComments, stripComments } from 'jsonc-parser';
import { isRoundedInteger, markNumbers } from '../../base/schema/wide-integers.js';
import { hasRepeatedKeys, parseWithRepeatedKeys } from './repeated-keys.js';

/** No text of a document begins with these private characters. */
const mark = '\uE0F1\uE0F2lorekeep:';

/** Beginnings of numbers with many digits, a fraction or an exponent. */
const written = /(?<![\d.eE+-])-?\d+(?:[.eE]|(?<=\d{16}))/g;

/** Longer numbers stay as they are written: converting them to BigInts and back takes time that grows with the square of their digits. */
const longestNumber = 1000;

/** Whether a number is shown otherwise than it is written: 1.10, 1e400, or more digits than a number holds. */
const isShownOtherwise = (token: string): boolean =>
  token.length > longestNumber ||
  isRoundedInteger(token) ||
  (/[.eE]/.test(token) && String(Number(token)) !== token);

/**
 * Parses as JSON.parse does, but integers that a number would round become BigInts, or texts beyond 1,000 digits, other numbers that would
 * be shown otherwise than they are written become texts, and the values of a key that an object has several times become a list.
 * @throws SyntaxError; RangeError for such a text that is nested too deeply
 */
export function parseExactly(text: string): unknown {
  return exact(text, JSON.parse);
}

/** Like parseExactly(), also with comments and trailing commas; undefined for a text that is no JSON. @throws RangeError */
export function parseLoosely(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    if (error instanceof RangeError) throw error;
  }
  // Quotation marks in comments would be taken for those of strings.
  return exact(stripComments(text), (given) => {
    const errors: ParseError[] = [];
    const value: unknown = parseWithComments(given, errors, { allowTrailingComma: true });
    return errors.length === 0 ? value : undefined;
  });
}

function exact(text: string, parse: (text: string) => unknown): unknown {
  const rounded = parse(text);
  if (rounded === undefined) return undefined;
  const isRepeated = hasRepeatedKeys(text, rounded);
  const parseAll = isRepeated ? parseWithRepeatedKeys : parse;
  const marked = text.includes(mark) ? undefined : markNumbers(text, mark, isShownOtherwise, written);
  if (marked !== undefined) return unmarked(parseAll(marked));
  return isRepeated ? parseAll(text) : rounded;
}

/** Puts BigInts and numbers as they are written in the places of marked texts. @throws RangeError for a value that is nested too deeply */
function unmarked(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? numberOf(value.slice(mark.length)) : value;
  if (Array.isArray(value)) return value.map(unmarked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unmarked(item)]));
}

const numberOf = (token: string): bigint | string =>
  token.length <= longestNumber && /^-?\d+$/.test(token) ? BigInt(token) : token;
