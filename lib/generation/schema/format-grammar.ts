import { automatonGrammar } from '../languages/automaton-grammar.js';
import { Work } from '../languages/work.js';
import type { GrammarRules } from './grammar-rules.js';
import { TextLanguages } from './text-languages.js';

/** Rules for the contents of the JSON strings of a format. They name each other, from 1 on, with `mark` before the number. */
export interface FormatGrammar {
  readonly start: string;
  readonly rules: readonly string[];
}

/** A character that no rule of an automaton has. */
const mark = '\u00a7';
const named = new RegExp(`${mark}(\\d+)`, 'g');

/** Derives the grammar of a format that has a pattern, which format-grammars.gen.ts holds. */
export function formatGrammar(format: string): FormatGrammar {
  const texts = new TextLanguages(new Work({ pauses: false }));
  const shape = { patterns: [], formats: [{ format, at: '' }], least: 0, most: Number.POSITIVE_INFINITY };
  const rules: string[] = [];
  const steps = automatonGrammar(texts.automaton(texts.strings(shape), ''), 'json', {
    reserve: () => `${mark}${rules.push('')}`,
    define(name, body) {
      rules[Number(name.slice(mark.length)) - 1] = body;
    },
  });
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return { start: step.value, rules };
}

/** Adds the rules of a format to a grammar, and returns the expression for its texts. */
export function addFormat({ start, rules }: FormatGrammar, grammar: GrammarRules): string {
  const names = rules.map(() => grammar.reserve());
  const renamed = (text: string) => text.replace(named, (_, number) => names[number - 1] as string);
  for (const [index, rule] of rules.entries()) grammar.define(names[index] as string, renamed(rule));
  return renamed(start);
}
