import { type Decimal, decimalOf } from './decimal.js';
import { type CodePoints, codePointsOf } from './languages/code-points.js';
import type { Language, Languages } from './languages/language.js';

export interface Bound {
  readonly value: Decimal;
  /** Whether the value itself is left out. */
  readonly strict: boolean;
}

export interface NumberRange {
  readonly integer: boolean;
  readonly least: Bound | undefined;
  readonly most: Bound | undefined;
  readonly multiples: readonly Decimal[];
}

/** Digits of a number with bounds that is not an integer: a number of JavaScript tells all of them apart. */
const decimalDigits = 15;

const digit = codePointsOf('0-9');
const nonZero = codePointsOf('1-9');

/** The numbers of a range as JSON writes them without an exponent; integers have any number of digits. */
export function numberLanguage(languages: Languages, range: NumberRange): Language {
  return new Numbers(languages).within(range);
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

  within({ integer, least, most, multiples }: NumberRange): Language {
    const { both, either, sequence, text } = bound(this.#languages);
    const { any } = this.#languages;
    const length = decimalLength(least, most);
    const size = integer ? this.#whole : this.#decimals(length);
    const steps = multiples.map((of) => this.#multiples(of));
    // Decimals are shorter than such a bound.
    const isFar = ({ value }: Bound) => !integer && value.whole.length > length;
    const part = (from: Bound | undefined, to: Bound | undefined) =>
      both(
        size,
        ...steps,
        from === undefined ? any : this.#from(from, integer),
        to === undefined || isFar(to) ? any : this.#to(to, integer),
      );
    const isNegative = most?.value.negative === true && isNonZero(most.value);
    const above = isNegative ? this.#languages.nothing : part(positive(least), most);
    if (least !== undefined && !least.value.negative) return above;
    // Zero has no sign.
    const nearest = isNegative ? unsigned(most) : { value: decimalOf(0), strict: true };
    return either(above, sequence(text('-'), part(nearest, least && unsigned(least))));
  }

  /** Unsigned decimals of a length. */
  #decimals(length: number): Language {
    const languages = this.#languages;
    const fraction = languages.sequence(languages.text('.'), this.#digit, this.#digits);
    return languages.both(
      languages.sequence(this.#whole, languages.optional(fraction)),
      languages.repeat(languages.character, 1, length),
    );
  }

  /** Unsigned numbers from a bound on. */
  #from({ value, strict }: Bound, integer: boolean): Language {
    const languages = this.#languages;
    const whole = BigInt(value.whole);
    if (integer) return this.#wholeFrom(whole + (value.fraction !== '' || strict ? 1n : 0n));
    return languages.either(
      languages.sequence(this.#wholeFrom(whole + 1n), this.#fraction(this.#digits)),
      languages.sequence(
        languages.text(value.whole),
        this.#fraction(this.#fractionFrom(value.fraction, strict)),
      ),
    );
  }

  /** Unsigned numbers up to a bound. */
  #to({ value, strict }: Bound, integer: boolean): Language {
    const languages = this.#languages;
    const whole = BigInt(value.whole);
    if (integer) return this.#wholeTo(whole - (value.fraction === '' && strict ? 1n : 0n));
    return languages.either(
      languages.sequence(this.#wholeTo(whole - 1n), this.#fraction(this.#digits)),
      languages.sequence(
        languages.text(value.whole),
        this.#fraction(this.#fractionTo(value.fraction, strict)),
      ),
    );
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

  #wholeTo(most: bigint): Language {
    const languages = this.#languages;
    if (most < 0n) return languages.nothing;
    const digits = String(most);
    const shorter = languages.both(this.#whole, languages.repeat(this.#digit, 0, digits.length - 1));
    return languages.either(shorter, languages.both(this.#whole, this.#sameLengthTo(digits)));
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

  #multiples({ whole, fraction }: Decimal): Language {
    const modulus = BigInt(whole + fraction);
    return this.#languages.multiple({ modulus, rest: 0n, places: fraction.length, behindPoint: false });
  }
}

const bound = (languages: Languages) => ({
  sequence: languages.sequence.bind(languages),
  both: languages.both.bind(languages),
  either: languages.either.bind(languages),
  text: languages.text.bind(languages),
});

/** Characters of a decimal, with its point: more digits than usual if the number nearest to zero has more. */
function decimalLength(least: Bound | undefined, most: Bound | undefined): number {
  const nearest = [positive(least), most?.value.negative === true ? most : undefined];
  const needed = Math.max(...nearest.map((each) => each?.value.whole.length ?? 0));
  return Math.max(decimalDigits, needed + 1) + 1;
}

const isNonZero = ({ whole, fraction }: Decimal) => whole !== '0' || fraction !== '';

/** A lower bound of numbers that are not negative. */
const positive = (least: Bound | undefined) =>
  least === undefined || least.value.negative ? undefined : least;

const unsigned = (one: Bound): Bound => ({ ...one, value: { ...one.value, negative: false } });
