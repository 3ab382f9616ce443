import { describe, expect, it } from 'vitest';
import { automatonInSteps, type State, shortestText } from '../../lib/generation/languages/automaton.js';
import { automatonGrammar } from '../../lib/generation/languages/automaton-grammar.js';
import { Languages } from '../../lib/generation/languages/language.js';
import { Work } from '../../lib/generation/languages/work.js';
import { patternLanguage } from '../../lib/generation/pattern.js';
import { GrammarRules } from '../../lib/generation/schema/grammar-rules.js';
import { matchGrammar } from '../../lib/internal.js';
import { random } from '../helpers/random.js';

const patterns = [
  '^(a|bc)*$',
  '^a{2,5}b?$',
  '^[ab]*c[ab]*$',
  '^(ab){3}$',
  '^$',
  '^a*$',
  '^(a|aa|aaa)b$',
  '^b?[ab]+$',
  '^a+b{0,2}$',
];

function finished<Result>(steps: Generator<unknown, Result>): Result {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

function grammarOf(states: readonly State[], most: number): string {
  const rules = new GrammarRules('root');
  return rules.text(finished(automatonGrammar(states, 'plain', rules, most)));
}

function accepts(states: readonly State[], text: string): boolean {
  let at: number | undefined = states.length > 0 ? 0 : undefined;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    const ways = at === undefined ? [] : (states[at] as State).next;
    at = ways.find(({ set }) => set.some(([first, last]) => first <= code && code <= last))?.to;
  }
  return at !== undefined && (states[at] as State).accepts;
}

describe('the grammar of texts of a limited length', () => {
  it.each(patterns)('of %s takes what the derivatives of the intersection accept', async (pattern) => {
    const languages = new Languages(new Work({ pauses: false }));
    const language = patternLanguage(pattern, languages, (problem) => {
      throw new Error(problem);
    });
    const whole = finished(automatonInSteps(languages, language));
    const next = random(pattern.length);
    for (const most of [0, 1, 2, 3, 6, 9]) {
      const within = languages.both(language, languages.repeat(languages.character, 0, most));
      const twin = finished(automatonInSteps(languages, within));
      expect(shortestText(whole) > most).toBe(twin.length === 0);
      if (twin.length === 0) continue;
      const grammar = grammarOf(whole, most);
      for (let n = 0; n < 100; n++) {
        const text = Array.from(
          { length: Math.floor(next() * 11) },
          () => 'aabbc'[Math.floor(next() * 5)],
        ).join('');
        const taken = (await matchGrammar(grammar, text)) === 'conforms';
        expect(taken, `${text}, at most ${most}`).toBe(accepts(twin, text));
      }
    }
  });

  it('counts characters only where a text may become too long', () => {
    const languages = new Languages(new Work({ pauses: false }));
    const rulesOf = (pattern: string) => {
      const language = patternLanguage(pattern, languages, () => expect.unreachable());
      return (
        grammarOf(finished(automatonInSteps(languages, language)), 1000).match(/^root-\d+ ::=/gm)?.length ?? 0
      );
    };
    expect(rulesOf('^[a-z]+$')).toBeLessThan(3);
    expect(rulesOf('^[A-Z]{20}-[0-9]{0,20}$')).toBeLessThan(50);
    expect(rulesOf('^[a-z]+(-[a-z]+)*$')).toBeGreaterThan(900);
  });
});
