import fc from 'fast-check';
import { expect, test } from 'vitest';
import { snippetOf } from '../../lib/search/highlights.js';
import { testSeed } from '../helpers/random.js';

const longest = 240;
const leadIn = 40;

interface Match {
  begin: number;
  end: number;
  clause: number;
}

/** The most that a window can be worth: it begins a little before a match, and each clause counts more than any number of matches. */
function maxValue(text: string, matches: readonly Match[]): number {
  const values = matches.map((first, index) => {
    const begin = Math.max(0, Math.min(first.begin - leadIn, text.length - longest));
    const inside: Match[] = [];
    for (const match of matches.slice(index)) {
      if (match.end > begin + longest) break;
      inside.push(match);
    }
    return new Set(inside.map(({ clause }) => clause)).size * longest + inside.length;
  });
  return Math.max(0, ...values);
}

test('a snippet has the part of the text with the most clauses, then matches', () => {
  const word = fc.record({
    letters: fc.integer({ min: 1, max: 12 }),
    clause: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined, freq: 2 }),
  });
  fc.assert(
    fc.property(fc.array(word, { minLength: 60, maxLength: 200 }), (words) => {
      const matches: Match[] = [];
      let text = '';
      for (const { letters, clause } of words) {
        const begin = text.length;
        text += `${'abcde'[clause ?? 4]}`.repeat(letters);
        if (clause !== undefined) matches.push({ begin, end: text.length, clause });
        text += ' ';
      }
      const parts = snippetOf(text, matches).filter(({ match }) => match);
      const clauses = new Set(parts.map((part) => part.text[0]));
      // At the end of the text the window has matches before the first one, too.
      expect(clauses.size * longest + parts.length).toBeGreaterThanOrEqual(maxValue(text, matches));
    }),
    { seed: testSeed, numRuns: 500 },
  );
});
