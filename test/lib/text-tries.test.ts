import { describe, expect, it } from 'vitest';
import { Languages } from '../../lib/generation/languages/language.js';
import { Work } from '../../lib/generation/languages/work.js';
import { random, testSeed } from '../helpers/random.js';

describe('the language of some texts', () => {
  it('has these and no others', () => {
    const next = random(testSeed);
    const text = () =>
      Array.from(
        { length: Math.floor(next() * 5) },
        () => ['a', 'b', '😀', '😁', '\ud83d', '\uffff'][Math.floor(next() * 6)],
      ).join('');
    for (let round = 0; round < 50; round++) {
      const languages = new Languages(new Work({ pauses: false, isLimited: false }));
      const texts = new Set(Array.from({ length: Math.floor(next() * 12) }, text));
      const language = languages.texts([...texts]);
      for (const one of [...texts, ...Array.from({ length: 50 }, text)])
        expect(languages.matches(language, one), `seed ${testSeed}: ${JSON.stringify(one)}`).toBe(
          texts.has(one),
        );
    }
  });

  it('shares the expressions of texts that begin alike', () => {
    const work = new Work({ pauses: false, isLimited: false });
    const languages = new Languages(work);
    const long = 'x'.repeat(500);
    const language = languages.texts(Array.from({ length: 40 }, (_, n) => `${long}${n}`));
    expect(language.id).toBeLessThan(700);
  });
});
