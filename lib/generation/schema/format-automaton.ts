import { automatonText } from '../languages/automaton-text.js';
import { minimalAutomaton } from '../languages/minimal-automaton.js';
import { Work } from '../languages/work.js';
import { TextLanguages } from './text-languages.js';

/** Derives the automaton of a format, and of a pattern beside it, as the text that format-automata.gen.ts holds. */
export function formatAutomaton(format: string, pattern?: string): string {
  const texts = new TextLanguages(new Work({ pauses: false, isLimited: false }));
  const patterns = pattern === undefined ? [] : [{ pattern, at: '', negated: false }];
  const shape = { patterns, formats: [{ format, at: '' }], least: 0, most: Number.POSITIVE_INFINITY };
  return automatonText(minimalAutomaton(texts.automaton(texts.strings(shape), '')));
}
