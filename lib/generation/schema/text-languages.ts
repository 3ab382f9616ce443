import { decimalOf } from '../decimal.js';
import { automatonInSteps, type State, shortestText, statesThatCount } from '../languages/automaton.js';
import { type Language, Languages } from '../languages/language.js';
import { TooMuchWork, type Work } from '../languages/work.js';
import { numberLanguage, numbersEqualTo } from '../number-language.js';
import { patternLanguage } from '../pattern.js';
import { refuse } from './schema-checks.js';
import type { JsonType, NumberShape, Shape, StringShape } from './shape.js';
import { formatPattern, integerFormatRange } from './string-formats.js';

/** States that the places of strings with a pattern and a maximum length may take. */
const statesForLengths = 4000;

/** Maximum number of characters of a pattern. */
const longestPattern = 4000;

/** An automaton whose texts are limited to a number of characters, which may be infinite. */
export interface LimitedAutomaton {
  readonly states: readonly State[];
  readonly most: number;
}

/** The languages of the strings, names and numbers of one schema. */
export class TextLanguages {
  readonly languages: Languages;
  readonly #patterns = new Map<string, Language>();
  /** Languages of constants, by the JSON of their type and of these. */
  readonly #ofConstants = new Map<string, Language>();
  readonly #automata = new Map<Language, readonly State[]>();
  /** Automata that a piece of work has begun. */
  readonly #begun = new Map<Language, Generator<void, readonly State[]>>();

  constructor(work: Work) {
    this.languages = new Languages(work);
  }

  /** The texts that a pattern of the schema matches. */
  pattern(pattern: string, at: string): Language {
    if (pattern.length > longestPattern) refuse(at, `has more than ${longestPattern} characters`);
    return this.#compiled(pattern, at);
  }

  #compiled(pattern: string, at: string): Language {
    const known = this.#patterns.get(pattern);
    if (known !== undefined) return known;
    const language = this.bounded(at, () =>
      patternLanguage(pattern, this.languages, (problem) => refuse(at, problem)),
    );
    this.#patterns.set(pattern, language);
    return language;
  }

  /** The contents of the strings of a shape. */
  strings(shape: StringShape, excluded: readonly unknown[] = []): Language {
    const { languages } = this;
    const { least, most } = shape;
    const free = least === 0 && most === Number.POSITIVE_INFINITY;
    const length = free ? languages.any : languages.repeat(languages.character, least, most);
    return languages.both(this.#contents(shape, excluded), length);
  }

  /**
   * The strings of a shape that a grammar writes. Those of a pattern, which needs states for each place, are limited to a length
   * for which the states suffice.
   */
  written(shape: StringShape, excluded: readonly unknown[], at: string): Language {
    const { least, most } = shape;
    if (most === Number.POSITIVE_INFINITY) return this.strings(shape, excluded);
    const states = this.automaton(this.strings({ ...shape, most: Number.POSITIVE_INFINITY }, excluded), at);
    if (states.length === 0) return this.languages.nothing;
    return this.strings({ ...shape, most: writableLength(states, { least, most }) }, excluded);
  }

  #contents({ patterns, formats }: StringShape, excluded: readonly unknown[]): Language {
    const { languages } = this;
    const matching = patterns.map(({ pattern, at, negated }) => {
      const language = this.pattern(pattern, at);
      return negated ? languages.not(language) : language;
    });
    const texts = excluded.filter((value) => typeof value === 'string');
    const unlike = languages.not(this.#equalTo('string', texts, () => languages.texts(texts)));
    const plain = languages.both(...matching, unlike);
    const formatted = formats.map(({ format, at }) => this.#format(format, at));
    if (formatted.length === 0) return plain;
    const all = languages.both(plain, ...formatted);
    // zod's patterns of times have no offset, which the format wants: the pattern is what its check wants.
    return matching.length > 0 && this.isEmpty(all, formats[0]?.at ?? '') ? plain : all;
  }

  /** A piece of work asks again for what an earlier one has made. */
  #equalTo(type: JsonType, constants: readonly unknown[], make: () => Language): Language {
    if (constants.length === 0) return this.languages.nothing;
    const key = JSON.stringify([type, constants]);
    const known = this.#ofConstants.get(key) ?? make();
    this.#ofConstants.set(key, known);
    return known;
  }

  #format(format: string, at: string): Language {
    const range = integerFormatRange(format);
    if (range !== undefined) {
      const bound = (value: bigint) => ({ value: decimalOf(value), strict: false });
      return numberLanguage(this.languages, {
        integer: true,
        least: bound(range.least),
        most: bound(range.most),
        multiples: [],
      });
    }
    const pattern = formatPattern(format) ?? '';
    return pattern === '' ? this.languages.any : this.#compiled(pattern, at);
  }

  /** The numbers of a shape; they are integers, or decimals without an exponent. */
  numbers(
    { least, most, multiples }: NumberShape,
    integer: boolean,
    excluded: readonly unknown[] = [],
  ): Language {
    const { languages } = this;
    const steps = multiples.map((step) => decimalOf(step));
    const all = numberLanguage(languages, { integer, least, most, multiples: steps });
    const values = excluded.filter((value) => typeof value === 'number');
    const equal = () => numbersEqualTo(languages, values.map(decimalOf), integer);
    return languages.both(all, languages.not(this.#equalTo(integer ? 'integer' : 'number', values, equal)));
  }

  /** The automaton of a language whose texts are limited to `most` characters. */
  limited(language: Language, at: string): LimitedAutomaton {
    const limit = this.languages.withoutMaximum(language);
    return { states: this.automaton(limit.unlimited, at), most: limit.most };
  }

  automaton(language: Language, at: string): readonly State[] {
    const known = this.#automata.get(language);
    if (known !== undefined) return known;
    const steps = this.#begun.get(language) ?? automatonInSteps(this.languages, language);
    this.#begun.set(language, steps);
    const states = this.bounded(at, () => this.#finished(steps));
    this.#begun.delete(language);
    this.#automata.set(language, states);
    return states;
  }

  isEmpty(language: Language, at: string): boolean {
    const { states, most } = this.limited(language, at);
    return shortestText(states) > most || states.length === 0;
  }

  /** Takes the remaining steps. @throws PieceOver: the next call continues */
  #finished(steps: Generator<void, readonly State[]>): readonly State[] {
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value;
      this.languages.work.mayPause();
    }
  }

  /** Names the place of what takes too much work. */
  bounded<T>(at: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof TooMuchWork) return refuse(at, error.message);
      throw error;
    }
  }
}

/** The maximum length of texts for which the states of a grammar suffice; at least that of the shortest text. */
export function writableLength(
  states: readonly State[],
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const room = Math.floor(statesForLengths / Math.max(1, statesThatCount(states, most)));
  return Math.min(most, Math.max(least, shortestText(states), room));
}

/** Whether the strings of a shape are limited by more than their lengths. */
export const isPatterned = ({ string, excluded }: Shape) =>
  string.patterns.length > 0 ||
  string.formats.some(({ format }) => formatPattern(format) !== '') ||
  excluded.some((value) => typeof value === 'string');

/** Whether the numbers of a shape are limited. */
export const isLimited = ({ number, excluded }: Shape) =>
  number.least !== undefined ||
  number.most !== undefined ||
  number.multiples.length > 0 ||
  excluded.some((value) => typeof value === 'number');

/** Whether the numbers of a shape are limited by bounds only. */
export const isRange = ({ number, excluded }: Shape) =>
  number.multiples.length === 0 && !excluded.some((value) => typeof value === 'number');
