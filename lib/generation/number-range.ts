import { type Decimal, decimalOf } from './decimal.js';

export interface Bound {
  readonly value: Decimal;
  /** Whether the value itself is left out. */
  readonly strict: boolean;
}

export interface NumberRange {
  readonly integer: boolean;
  readonly least: Bound | undefined;
  readonly most: Bound | undefined;
}

/** Bounds of numbers without a sign. */
export interface UnsignedRange {
  readonly least: Bound | undefined;
  readonly most: Bound | undefined;
}

/** Digits of a number with bounds that is not an integer: a number of JavaScript tells all of them apart. */
const decimalDigits = 15;

/** The numbers of a range without a sign, and those behind one, which are not zero; undefined where there are none. */
export function halvesOf({ least, most }: NumberRange): { above?: UnsignedRange; below?: UnsignedRange } {
  const isBelow = most?.value.negative === true && isNonZero(most.value);
  const above = isBelow ? {} : { above: { least: positive(least), most } };
  if (least !== undefined && !least.value.negative) return above;
  const nearest = isBelow ? unsigned(most) : { value: decimalOf(0), strict: true };
  return { ...above, below: { least: nearest, most: least && unsigned(least) } };
}

/**
 * Characters of a decimal, with its point, and its sign if it must have one: more digits than usual if the number nearest to zero has
 * more.
 */
export function decimalLength({ least, most }: NumberRange): number {
  const negative = most?.value.negative === true ? most : undefined;
  const needed = Math.max(...[positive(least), negative].map((each) => each?.value.whole.length ?? 0));
  return Math.max(decimalDigits, needed + 1) + (negative === undefined ? 1 : 2);
}

/** The least integer from a bound on, and the largest one up to a bound, which are not negative. */
export const ceiling = (from: Bound | undefined): bigint =>
  from === undefined ? 0n : BigInt(from.value.whole) + (from.value.fraction !== '' || from.strict ? 1n : 0n);
export const floor = ({ value, strict }: Bound): bigint =>
  BigInt(value.whole) - (value.fraction === '' && strict ? 1n : 0n);

const isNonZero = ({ whole, fraction }: Decimal) => whole !== '0' || fraction !== '';

/** A lower bound of numbers that are not negative. */
const positive = (least: Bound | undefined) =>
  least === undefined || least.value.negative ? undefined : least;

const unsigned = (one: Bound): Bound => ({ ...one, value: { ...one.value, negative: false } });
