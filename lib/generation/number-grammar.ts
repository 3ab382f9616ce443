import type { Rules } from './languages/automaton-grammar.js';
import { TooMuchWork, type Work } from './languages/work.js';
import {
  type Bound,
  ceiling,
  decimalLength,
  floor,
  halvesOf,
  type NumberRange,
  type UnsignedRange,
} from './number-range.js';

const infinity = Number.POSITIVE_INFINITY;

/** Units of work of a state: a place within a number, as the bounds tell places apart. */
const stateUnits = 3;

/** Digits of a bound; JSON has numbers of up to 309. */
const maxDigits = 400;

/** Groups within each other, and digits that are written as one repetition. */
const groupsInRule = 12;
const repeatedDigits = 8;

/**
 * What a bound says behind some digits: which of its digits are left, as long as the number has the same ones so far; after that, how
 * many digits must follow at least, or may follow at most.
 */
type Rest = string | number;

/** Bounds of the digits behind the point, if the digits before it are those of the bounds. */
interface Fractions {
  readonly low: Bound | undefined;
  readonly high: Bound | undefined;
  readonly integer: boolean;
}

/** The digits of a bound behind the point that are left; undefined once the number is within the bound. */
interface FractionRest {
  readonly digits: string;
  readonly strict: boolean;
}

/**
 * Writes ranges of numbers as rules, digit by digit. Their texts are those of `numberLanguage`, but no automaton is derived. Ranges share
 * the rules for digits that no bound limits.
 */
export class NumberGrammar {
  readonly #rules: Pick<Rules, 'reserve' | 'define'>;
  readonly #work: Work;
  /** Names of the rules for digits that no bound limits. Key: the digits that must and may follow, and the characters left. */
  readonly #shared = new Map<string, string>();

  constructor(rules: Pick<Rules, 'reserve' | 'define'>, work: Work) {
    this.#rules = rules;
    this.#work = work;
  }

  /** Returns an expression for the numbers of a range; undefined if there are none. @throws TooMuchWork */
  of(range: NumberRange): string | undefined {
    const { above, below } = halvesOf(range);
    const length = range.integer ? infinity : decimalLength(range);
    const positive = above && this.#unsigned(above, range.integer, length);
    const negative = below && this.#unsigned(below, range.integer, length - 1);
    return either([positive, after('"-"', negative)]);
  }

  #unsigned({ least, most }: UnsignedRange, integer: boolean, length: number): string | undefined {
    const from = integer ? String(ceiling(least)) : (least?.value.whole ?? '0');
    const to = integer ? most && String(floor(most)) : most?.value.whole;
    if (to?.startsWith('-')) return undefined;
    if (Math.max(from.length, to?.length ?? 0) > maxDigits)
      throw new TooMuchWork('has a bound of too many digits');
    const fractions = { low: least, high: most, integer };
    const low = from === '0' ? 1 : from;
    const isZero = to === '0';
    return either([
      from === '0' ? after('"0"', this.#end('', isZero ? '' : 0, length - 1, fractions)) : undefined,
      isZero ? undefined : this.#digits(low, to ?? infinity, length, fractions),
    ]);
  }

  /** The rest of a number, of at most `left` characters. `depth`: digits so far; the first one is not zero. */
  #digits(low: Rest, high: Rest, left: number, fractions: Fractions, depth = 0): string | undefined {
    if (fewest(low) > Math.min(fewest(high), left)) return undefined;
    if (depth > 0 && typeof low === 'number' && typeof high === 'number')
      return this.#free(low, Math.min(high, left), left);
    this.#work.spend(stateUnits);
    const options = depth === 0 ? [] : [this.#end(low, high, left, fractions)];
    for (const [first, last] of split(depth === 0 ? 1 : 0, leadOf(low), leadOf(high))) {
      const rest = [lowAfter(low, first), highAfter(high, first)] as const;
      options.push(after(digit(first, last), this.#digits(...rest, left - 1, fractions, depth + 1)));
    }
    return this.#grouped(options, depth);
  }

  /** Some digits, then any fraction. */
  #free(low: number, high: number, left: number): string | undefined {
    if (left === infinity) {
      if (high === infinity) return low === 0 ? '[0-9]*' : `[0-9]{${low},}`;
      if (high <= repeatedDigits) return high === 0 ? '' : `[0-9]${times(low, high)}`;
    }
    if (high === 0) return this.#anyFraction(left);
    return this.#rule(`${low} ${high} ${left}`, () =>
      either([
        low === 0 ? this.#anyFraction(left) : undefined,
        after('[0-9]', this.#free(Math.max(0, low - 1), high - 1, left - 1)),
      ]),
    );
  }

  #anyFraction(left: number): string | undefined {
    return left === infinity || left < 2 ? '' : this.#rule(`. ${left}`, () => `("." [0-9]{1,${left - 1}})?`);
  }

  /** The end of the digits before the point, and a fraction; undefined if digits must follow. */
  #end(low: Rest, high: Rest, left: number, { low: from, high: to, integer }: Fractions) {
    if (fewest(low) > 0) return undefined;
    if (integer) return '';
    const least = low === '' ? fractionOf(from, false) : undefined;
    const most = high === '' ? fractionOf(to, true) : undefined;
    if (least === undefined && most === undefined) return this.#anyFraction(left);
    const isWhole = least === undefined && !(most?.digits === '' && most.strict);
    return either([
      isWhole ? '' : undefined,
      left < 2 ? undefined : after('"."', this.#fraction(least, most, left - 1, 0)),
    ]);
  }

  /** The rest of the digits behind the point; there must be one digit. */
  #fraction(
    low: FractionRest | undefined,
    high: FractionRest | undefined,
    left: number,
    depth: number,
  ): string | undefined {
    const isLast = high?.digits === '';
    if (isLast && (high.strict || low !== undefined)) return undefined;
    if (low === undefined && (high === undefined || isLast))
      return left === 0 ? onlyIf(depth > 0) : `${isLast ? '"0"' : '[0-9]'}{${depth === 0 ? 1 : 0},${left}}`;
    this.#work.spend(stateUnits);
    const options = [onlyIf(depth > 0 && low === undefined)];
    const [lowDigit, highDigit] = [low && Number(low.digits[0] ?? 0), high && Number(high.digits[0])];
    for (const [first, last] of left === 0 ? [] : split(lowDigit ?? 0, lowDigit, highDigit)) {
      if (highDigit !== undefined && first > highDigit) continue;
      const from = first === lowDigit ? behind(low, false) : undefined;
      const to = first === highDigit ? behind(high, true) : undefined;
      options.push(after(digit(first, last), this.#fraction(from, to, left - 1, depth + 1)));
    }
    return this.#grouped(options, depth);
  }

  #grouped(options: readonly (string | undefined)[], depth: number): string | undefined {
    const all = either(options);
    if (all === undefined || all === '' || depth % groupsInRule !== groupsInRule - 1) return all;
    const name = this.#rules.reserve();
    this.#rules.define(name, all);
    return name;
  }

  #rule(key: string, body: () => string | undefined): string | undefined {
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    this.#work.spend(stateUnits);
    const written = body();
    if (written === undefined) return undefined;
    const name = this.#rules.reserve();
    this.#rules.define(name, written);
    this.#shared.set(key, name);
    return name;
  }
}

const onlyIf = (isPossible: boolean) => (isPossible ? '' : undefined);

/** The number of digits that must follow, if `rest` is of a lower bound; that may follow, if it is of an upper one. */
const fewest = (rest: Rest) => (typeof rest === 'number' ? rest : rest.length);

/** The next digit of a bound that the number is not yet told apart from. */
const leadOf = (rest: Rest) => (typeof rest === 'number' || rest === '' ? undefined : Number(rest[0]));

function lowAfter(low: Rest, next: number): Rest {
  if (typeof low === 'number') return Math.max(0, low - 1);
  if (low === '') return 0;
  const order = next - Number(low[0]);
  if (order === 0) return low.slice(1);
  return order < 0 ? low.length : low.length - 1;
}

/** Below 0 if no digit may follow. */
function highAfter(high: Rest, next: number): Rest {
  if (typeof high === 'number') return high - 1;
  if (high === '') return -1;
  const order = next - Number(high[0]);
  if (order === 0) return high.slice(1);
  return order < 0 ? high.length - 1 : high.length - 2;
}

const fractionOf = (bound: Bound | undefined, isUpper: boolean) =>
  bound && fractionRest(bound.value.fraction, bound.strict, isUpper);

/** What is left of a bound behind its next digit. */
const behind = (rest: FractionRest | undefined, isUpper: boolean) =>
  rest && fractionRest(rest.digits.slice(1), rest.strict, isUpper);

/** A lower bound that is reached is of no further interest. */
const fractionRest = (digits: string, strict: boolean, isUpper: boolean): FractionRest | undefined =>
  isUpper || digits !== '' || strict ? { digits, strict } : undefined;

/** Ranges of digits from one on that two digits do not divide. */
function split(from: number, ...at: readonly (number | undefined)[]): [first: number, last: number][] {
  const starts = new Set([from]);
  for (const each of at)
    if (each !== undefined) {
      if (each > from) starts.add(each);
      if (each + 1 > from && each < 9) starts.add(each + 1);
    }
  const sorted = [...starts].sort((a, b) => a - b);
  return sorted.map((first, index) => [first, (sorted[index + 1] ?? 10) - 1]);
}

const digit = (first: number, last: number) => (first === last ? `"${first}"` : `[${first}-${last}]`);

const times = (least: number, most: number) =>
  least === most ? (least === 1 ? '' : `{${least}}`) : `{${least},${most}}`;

const after = (first: string, rest: string | undefined) =>
  rest === undefined ? undefined : rest === '' ? first : `${first} ${rest}`;

/** One of some expressions; undefined if there are none. */
function either(options: readonly (string | undefined)[]): string | undefined {
  const possible = [...new Set(options.filter((option) => option !== undefined))];
  if (possible.length <= 1) return possible[0];
  const some = possible.filter((option) => option !== '');
  return `(${some.join(' | ')})${some.length < possible.length ? '?' : ''}`;
}
