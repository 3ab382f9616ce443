import type { Decimal } from './decimal.js';
import { type CodePoints, codePointsOf } from './languages/code-points.js';
import { type Language, type Languages, largestModulus } from './languages/language.js';
import { TooMuchWork } from './languages/work.js';
import {
  type Bound,
  ceiling,
  decimalLength,
  floor,
  halvesOf,
  type NumberRange,
  type UnsignedRange,
} from './number-range.js';

/** A range of numbers that are multiples of others. */
interface SteppedRange extends NumberRange {
  readonly multiples: readonly Decimal[];
}

const digit = codePointsOf('0-9');
const nonZero = codePointsOf('1-9');

/** The numbers of a range as JSON writes them without an exponent; integers have any number of digits. */
export function numberLanguage(languages: Languages, range: SteppedRange): Language {
  return new Numbers(languages).within(range);
}

/** The texts of some numbers; those that are not of integers have any number of zeros behind the point. */
export function numbersEqualTo(languages: Languages, values: readonly Decimal[], integer: boolean): Language {
  const texts = (ofIntegers: boolean) =>
    languages.texts(
      values
        .filter(({ fraction }) => (fraction === '') === ofIntegers)
        .map(
          ({ negative, whole, fraction }) =>
            `${negative ? '-' : ''}${whole}${ofIntegers ? '' : `.${fraction}`}`,
        ),
    );
  if (integer) return texts(true);
  const zero = languages.text('0');
  const zeros = languages.repeat(zero, 0, Number.POSITIVE_INFINITY);
  const behind = languages.sequence(languages.text('.'), zero, zeros);
  return languages.either(
    languages.sequence(texts(true), languages.optional(behind)),
    languages.sequence(texts(false), zeros),
  );
}

class Numbers {
  readonly #languages: Languages;
  readonly #digit: Language;
  readonly #digits: Language;
  readonly #whole: Language;

  constructor(languages: Languages) {
    this.#languages = languages;
    this.#digit = languages.set(digit);
    this.#digits = languages.repeat(this.#digit, 0, Number.POSITIVE_INFINITY);
    this.#whole = languages.either(
      languages.text('0'),
      languages.sequence(languages.set(nonZero), this.#digits),
    );
  }

  within(range: SteppedRange): Language {
    const { both, either, sequence, text } = bound(this.#languages);
    const { integer } = range;
    const length = decimalLength(range);
    const [first, ...others] = range.multiples;
    const steps = first === undefined ? [] : [this.#multiples(others.reduce(commonMultiple, first))];
    // Decimals are shorter than such a bound.
    const isFar = ({ value }: Bound) => value.whole.length > length;
    const part = ({ least, most }: UnsignedRange) =>
      integer
        ? both(this.#wholeBetween(ceiling(least), most && floor(most)), ...steps)
        : both(this.#decimalsBetween(least, most && isFar(most) ? undefined : most), ...steps);
    const { above, below } = halvesOf(range);
    const parts = [
      ...(above === undefined ? [] : [part(above)]),
      ...(below === undefined ? [] : [sequence(text('-'), part(below))]),
    ];
    // Counted around both signs: an automaton without a length has fewer states.
    return integer ? either(...parts) : both(either(...parts), this.#characters(length));
  }

  #characters(most: number): Language {
    return this.#languages.repeat(this.#languages.character, 1, most);
  }

  /** Unsigned decimals: with a whole part between those of the bounds, or with that of one of them. */
  #decimalsBetween(from: Bound | undefined, to: Bound | undefined): Language {
    const { either, sequence, text, both } = bound(this.#languages);
    const [least, most] = [from, to].map((each) => each && BigInt(each.value.whole));
    const digitsFrom = from === undefined ? undefined : this.#fractionFrom(from.value.fraction, from.strict);
    const digitsTo = to === undefined ? undefined : this.#fractionTo(to.value.fraction, to.strict);
    const at = (each: Bound | undefined, digits: Language | undefined) =>
      each === undefined || digits === undefined
        ? this.#languages.nothing
        : sequence(text(each.value.whole), this.#fraction(digits));
    if (least !== undefined && most !== undefined && least >= most)
      return least > most || digitsFrom === undefined || digitsTo === undefined
        ? this.#languages.nothing
        : at(from, both(digitsFrom, digitsTo));
    const whole = this.#wholeBetween(
      least === undefined ? 0n : least + 1n,
      most === undefined ? undefined : most - 1n,
    );
    return either(sequence(whole, this.#fraction(this.#digits)), at(from, digitsFrom), at(to, digitsTo));
  }

  /** Digits behind a point, and no point without digits. */
  #fraction(digits: Language): Language {
    const { either, sequence, text, both } = bound(this.#languages);
    const languages = this.#languages;
    return either(
      digits.nullable ? languages.empty : languages.nothing,
      sequence(text('.'), both(digits, languages.some)),
    );
  }

  #fractionFrom(digits: string, strict: boolean): Language {
    const languages = this.#languages;
    if (digits === '') {
      const zeros = languages.repeat(languages.text('0'), 0, Number.POSITIVE_INFINITY);
      return strict ? languages.sequence(zeros, languages.set(nonZero), this.#digits) : this.#digits;
    }
    const first = digits[0] as string;
    return languages.either(
      languages.sequence(this.#digitsBetween(Number(first) + 1, 9), this.#digits),
      languages.sequence(languages.text(first), this.#fractionFrom(digits.slice(1), strict)),
    );
  }

  #fractionTo(digits: string, strict: boolean): Language {
    const languages = this.#languages;
    if (digits === '')
      return strict ? languages.nothing : languages.repeat(languages.text('0'), 0, Number.POSITIVE_INFINITY);
    const first = digits[0] as string;
    return languages.either(
      languages.empty,
      languages.sequence(this.#digitsBetween(0, Number(first) - 1), this.#digits),
      languages.sequence(languages.text(first), this.#fractionTo(digits.slice(1), strict)),
    );
  }

  #digitsBetween(first: number, last: number): Language {
    const set: CodePoints = first > last ? [] : [[0x30 + first, 0x30 + last]];
    return this.#languages.set(set);
  }

  /** Unsigned integers from a number on, by number of digits. */
  #wholeFrom(least: bigint): Language {
    const languages = this.#languages;
    if (least <= 0n) return this.#whole;
    const digits = String(least);
    const longer = languages.sequence(
      languages.set(nonZero),
      languages.repeat(this.#digit, digits.length, Number.POSITIVE_INFINITY),
    );
    return languages.either(this.#sameLengthFrom(digits), longer);
  }

  #sameLengthFrom(digits: string): Language {
    const languages = this.#languages;
    if (digits === '') return languages.empty;
    const first = Number(digits[0]);
    const rest = digits.length - 1;
    return languages.either(
      languages.sequence(this.#digitsBetween(first + 1, 9), languages.repeat(this.#digit, rest, rest)),
      languages.sequence(this.#digitsBetween(first, first), this.#sameLengthFrom(digits.slice(1))),
    );
  }

  /** Unsigned integers between two, or from one on. Their texts are told apart digit by digit, so that no intersection is derived. */
  #wholeBetween(least: bigint, most: bigint | undefined): Language {
    const { either, sequence, text } = bound(this.#languages);
    const languages = this.#languages;
    if (most === undefined) return this.#wholeFrom(least);
    if (most < least) return languages.nothing;
    if (least <= 0n) return either(text('0'), this.#wholeBetween(1n, most));
    const [from, to] = [String(least), String(most)];
    if (from.length === to.length) return this.#sameLengthBetween(from, to);
    const between =
      to.length - from.length < 2
        ? languages.nothing
        : sequence(languages.set(nonZero), languages.repeat(this.#digit, from.length, to.length - 2));
    const longest = this.#sameLengthBetween('1'.padEnd(to.length, '0'), to);
    return either(this.#sameLengthFrom(from), between, longest);
  }

  #sameLengthBetween(from: string, to: string): Language {
    const { either, sequence } = bound(this.#languages);
    const [first, last, rest] = [Number(from[0]), Number(to[0]), from.length - 1];
    if (from === '') return this.#languages.empty;
    if (first === last)
      return sequence(this.#digitsBetween(first, first), this.#sameLengthBetween(from.slice(1), to.slice(1)));
    return either(
      sequence(this.#digitsBetween(first, first), this.#sameLengthFrom(from.slice(1))),
      sequence(this.#digitsBetween(first + 1, last - 1), this.#languages.repeat(this.#digit, rest, rest)),
      sequence(this.#digitsBetween(last, last), this.#sameLengthTo(to.slice(1))),
    );
  }

  #sameLengthTo(digits: string): Language {
    const languages = this.#languages;
    if (digits === '') return languages.empty;
    const first = Number(digits[0]);
    const rest = digits.length - 1;
    return languages.either(
      languages.sequence(this.#digitsBetween(0, first - 1), languages.repeat(this.#digit, rest, rest)),
      languages.sequence(this.#digitsBetween(first, first), this.#sameLengthTo(digits.slice(1))),
    );
  }

  /** Zeros at the end of an integer are written as they are, which takes fewer states than to divide by them. */
  #multiples({ whole, fraction }: Decimal): Language {
    const { either, sequence, text } = bound(this.#languages);
    const [zeros = ''] = fraction === '' ? (/0+$/.exec(whole) ?? []) : [];
    const digits = whole + fraction;
    const modulus = Number(digits.slice(0, digits.length - zeros.length));
    if (modulus > largestModulus) throw new TooMuchWork('is a multiple of a number of too many digits');
    const places = fraction.length;
    const multiple = this.#languages.multiple({ modulus, rest: 0, places, behindPoint: false });
    return zeros === '' ? multiple : either(text('0'), sequence(multiple, text(zeros)));
  }
}

/** The least number that is a multiple of both. */
function commonMultiple(one: Decimal, other: Decimal): Decimal {
  const places = Math.max(one.fraction.length, other.fraction.length);
  const scaled = ({ whole, fraction }: Decimal) => BigInt(whole + fraction.padEnd(places, '0'));
  const [a, b] = [scaled(one), scaled(other)];
  const digits = String((a / greatestDivisor(a, b)) * b).padStart(places + 1, '0');
  const point = digits.length - places;
  return { negative: false, whole: digits.slice(0, point), fraction: digits.slice(point).replace(/0+$/, '') };
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

const bound = (languages: Languages) => ({
  sequence: languages.sequence.bind(languages),
  both: languages.both.bind(languages),
  either: languages.either.bind(languages),
  text: languages.text.bind(languages),
});
