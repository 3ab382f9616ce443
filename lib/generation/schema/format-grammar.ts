import { longestTexts, shortestText } from '../languages/automaton.js';
import { automatonGrammar } from '../languages/automaton-grammar.js';
import { Work } from '../languages/work.js';
import type { GrammarRules } from './grammar-rules.js';
import { TextLanguages } from './text-languages.js';

/** Rules for the contents of the JSON strings of a format. They name each other, from 1 on, with `mark` before the number. */
export interface FormatGrammar {
  readonly start: string;
  readonly rules: readonly string[];
  /** Characters of the shortest and of the longest text; without `most`, texts are of any length. */
  readonly least: number;
  readonly most?: number;
}

/** A character that no rule of an automaton has. */
const mark = '\u00a7';
const named = new RegExp(`${mark}(\\d+)`, 'g');

/** Derives the grammar of a format, and of a pattern beside it, which format-grammars.gen.ts holds. */
export function formatGrammar(format: string, pattern?: string): FormatGrammar {
  const texts = new TextLanguages(new Work({ pauses: false, isLimited: false }));
  const patterns = pattern === undefined ? [] : [{ pattern, at: '', negated: false }];
  const shape = { patterns, formats: [{ format, at: '' }], least: 0, most: Number.POSITIVE_INFINITY };
  const rules: string[] = [];
  const states = texts.automaton(texts.strings(shape), '');
  const [most = Number.POSITIVE_INFINITY] = longestTexts(states);
  const lengths = { least: shortestText(states), ...(Number.isFinite(most) && { most }) };
  const steps = automatonGrammar(states, 'json', {
    classes: new Map(),
    reserve: () => `${mark}${rules.push('')}`,
    define(name, body) {
      rules[Number(name.slice(mark.length)) - 1] = body;
    },
  });
  for (let step = steps.next(); ; step = steps.next())
    if (step.done) return { ...lengths, start: step.value, rules };
}

/** Adds the rules of a format to a grammar, and returns the expression for its texts. */
export function addFormat({ start, rules }: FormatGrammar, grammar: GrammarRules): string {
  const names = rules.map(() => grammar.reserve());
  const renamed = (text: string) => text.replace(named, (_, number) => names[number - 1] as string);
  for (const [index, rule] of rules.entries()) grammar.define(names[index] as string, renamed(rule));
  return renamed(start);
}
