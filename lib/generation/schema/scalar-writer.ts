import { shortestText } from '../languages/automaton.js';
import { automatonGrammar, type Writing } from '../languages/automaton-grammar.js';
import type { Language } from '../languages/language.js';
import type { Work } from '../languages/work.js';
import { NumberGrammar } from '../number-grammar.js';
import { formatAutomatonOf } from './derived-formats.js';
import { type GrammarRules, literal } from './grammar-rules.js';
import { repetition } from './sequence-grammar.js';
import type { Shape } from './shape.js';
import {
  isLimited,
  isPatterned,
  isRange,
  type LimitedAutomaton,
  type TextLanguages,
} from './text-languages.js';

/** Characters of an automaton's grammar in one unit of work. */
const grammarCharacters = 64;

/** Writes the strings and numbers of one schema. */
export class ScalarWriter {
  readonly #rules: GrammarRules;
  readonly #texts: TextLanguages;
  readonly #work: Work;
  readonly #ranges: NumberGrammar;
  readonly #written = new Map<string, string>();
  /** Grammars of automata that a piece of work has begun. */
  readonly #begun = new Map<string, Generator<number, string>>();

  constructor(rules: GrammarRules, texts: TextLanguages, work: Work) {
    this.#rules = rules;
    this.#texts = texts;
    this.#work = work;
    this.#ranges = new NumberGrammar(rules, work);
  }

  /** Returns an expression for the numbers of a shape; undefined if it has none. */
  numeric(shape: Shape, type: 'number' | 'integer'): string | undefined {
    if (!isLimited(shape)) return this.#rules.shared(type);
    if (isRange(shape)) return this.#range(shape, type === 'integer');
    return this.#text(
      this.#texts.numbers(shape.number, type === 'integer', shape.excluded),
      shape.number.multiples.length > 0 ? `${shape.at}/multipleOf` : shape.at,
      'plain',
    );
  }

  /** Adds a rule for the numbers between two bounds, once. */
  #range({ number: { least, most }, at }: Shape, integer: boolean): string | undefined {
    const key = JSON.stringify([integer, least, most]);
    const known = this.#written.get(key);
    if (known !== undefined) return known;
    this.#work.mayPause();
    const body = this.#texts.bounded(at, () => this.#ranges.of({ integer, least, most }));
    if (body === undefined) return undefined;
    const name = this.#rules.add(body);
    this.#written.set(key, name);
    return name;
  }

  /** Returns an expression for the strings of a shape; undefined if it has none. */
  string(shape: Shape): string | undefined {
    const { least, most } = shape.string;
    if (least > most) return undefined;
    const format = formatAutomatonOf(shape);
    if (format !== undefined)
      return this.#inQuotes(this.#automaton(`${format.key} ${format.most}`, format, 'json'));
    if (isPatterned(shape)) {
      const { patterns, formats } = shape.string;
      const at = (patterns[0] ?? formats[0])?.at ?? shape.at;
      return this.quoted(this.#texts.written(shape.string, shape.excluded, at), at);
    }
    if (least === 0 && most === Number.POSITIVE_INFINITY) return this.#rules.shared('string');
    return `${literal('"')} ${this.#rules.shared('character')}${repetition(least, most)} ${literal('"')}`;
  }

  /** Returns an expression for the JSON strings whose contents are in a language. */
  quoted(language: Language, at: string): string | undefined {
    return this.#inQuotes(this.#text(language, at, 'json'));
  }

  #inQuotes(content: string | undefined): string | undefined {
    return content === undefined ? undefined : `${literal('"')} ${content} ${literal('"')}`;
  }

  #text(language: Language, at: string, writing: Writing): string | undefined {
    return this.#automaton(`${language.id} ${writing}`, this.#texts.limited(language, at), writing);
  }

  /** Adds a rule for the texts of an automaton, once. `key`: the same for the same automaton, length and writing. */
  #automaton(key: string, { states, most }: LimitedAutomaton, writing: Writing): string | undefined {
    const known = this.#written.get(key);
    if (known !== undefined) return known;
    if (shortestText(states) > most || states.length === 0) return undefined;
    const name = this.#rules.add(
      this.#finished(key, () => automatonGrammar(states, writing, this.#rules, most)),
    );
    this.#written.set(key, name);
    return name;
  }

  /** Writes what an earlier piece of work may have begun. @throws PieceOver: the next call continues */
  #finished(key: string, begin: () => Generator<number, string>): string {
    this.#work.mayPause();
    const steps = this.#begun.get(key) ?? begin();
    this.#begun.set(key, steps);
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) {
        this.#begun.delete(key);
        return step.value;
      }
      this.#work.spend(Math.ceil(step.value / grammarCharacters));
      this.#work.mayPause();
    }
  }
}
