import { describe, expect, it } from 'vitest';
import { automatonInSteps, limitedInSteps, type State } from '../../lib/generation/languages/automaton.js';
import { Languages } from '../../lib/generation/languages/language.js';
import { Work } from '../../lib/generation/languages/work.js';
import { patternLanguage } from '../../lib/generation/pattern.js';
import { random } from '../helpers/random.js';

const patterns = ['^(a|bc)*$', '^a{2,5}b?$', '^[ab]*c[ab]*$', '^(ab){3}$', '^$', '^a*$', '^(a|aa|aaa)b$'];

function finished(steps: Generator<void, readonly State[]>): readonly State[] {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

function accepts(states: readonly State[], text: string): boolean {
  let at: number | undefined = states.length > 0 ? 0 : undefined;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    const ways = at === undefined ? [] : [...(states[at] as State).next];
    at = ways.find(([, set]) => set.some(([first, last]) => first <= code && code <= last))?.[0];
  }
  return at !== undefined && (states[at] as State).accepts;
}

describe('the automaton of texts of a limited length', () => {
  it.each(patterns)('of %s accepts what the derivatives of the intersection accept', (pattern) => {
    const languages = new Languages(new Work({ pauses: false }));
    const language = patternLanguage(pattern, languages, (problem) => {
      throw new Error(problem);
    });
    const whole = finished(automatonInSteps(languages, language));
    const next = random(pattern.length);
    for (const most of [0, 1, 2, 3, 6, 9]) {
      const limited = finished(limitedInSteps(languages, whole, most));
      const within = languages.both(language, languages.repeat(languages.character, 0, most));
      const twin = finished(automatonInSteps(languages, within));
      expect(limited.length === 0).toBe(twin.length === 0);
      for (let n = 0; n < 300; n++) {
        const text = Array.from(
          { length: Math.floor(next() * 11) },
          () => 'aabbc'[Math.floor(next() * 5)],
        ).join('');
        expect(accepts(limited, text), `${text}, at most ${most}`).toBe(accepts(twin, text));
      }
    }
  });
});
