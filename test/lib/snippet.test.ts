import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Storage } from '../../lib/index.js';
import { testSeed } from '../helpers/random.js';

const longest = 240;
const leadIn = 40;
const queryWords = ['bee', 'dance', 'honeycomb', 'x'];

interface Match {
  begin: number;
  end: number;
  word: string;
}

/** The most that a window can be worth: it begins a little before a match, and each word counts more than any number of matches. */
function maxValue(text: string, matches: readonly Match[]): number {
  const values = matches.map((first, index) => {
    const begin = Math.max(0, Math.min(first.begin - leadIn, text.length - longest));
    const inside: Match[] = [];
    for (const match of matches.slice(index)) {
      if (match.end > begin + longest) break;
      inside.push(match);
    }
    return new Set(inside.map(({ word }) => word)).size * longest + inside.length;
  });
  return Math.max(0, ...values);
}

async function hitsOf(texts: readonly string[], highlight: true | 'snippet') {
  const records = texts.map((text, index) => ({ id: `${index}`, text }));
  const storage = await Storage.build(records, new Float32Array(texts.length).fill(1), 1);
  const { hits } = await storage.search({
    text: queryWords.join(' '),
    mode: 'lexical',
    topK: texts.length,
    highlight,
  });
  await storage.close();
  return hits;
}

test('a snippet has the part of the text with the most words of the query, then matches', async () => {
  const word = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('1', '😀é', 'other', 'w'.repeat(30)) },
    { weight: 1, arbitrary: fc.constantFrom(...queryWords) },
  );
  const texts = fc
    .sample(fc.array(word, { minLength: 60, maxLength: 200 }), { numRuns: 500, seed: testSeed })
    .map((words) => words.join(' '));
  const hits = await hitsOf(texts, true);
  expect(hits.length).toBeGreaterThan(490);
  for (const { text, highlights = [], snippet = [] } of hits) {
    const matches = highlights.map(([begin, end]) => ({ begin, end, word: text.slice(begin, end) }));
    const parts = snippet.filter(({ match }) => match);
    const found = new Set(parts.map((part) => part.text));
    // At the end of the text the window has matches before the first one, too.
    expect(found.size * longest + parts.length).toBeGreaterThanOrEqual(maxValue(text, matches));
  }
  const alone = await hitsOf(texts, 'snippet');
  expect(alone.map(({ id, snippet }) => [id, snippet])).toEqual(hits.map(({ id, snippet }) => [id, snippet]));
});

test('two words at the end of a text are worth more than one at its beginning', async () => {
  const [hit] = await hitsOf([`bee ${'y '.repeat(400)}dance bee`], 'snippet');
  expect(hit?.snippet?.filter(({ match }) => match).map(({ text }) => text)).toEqual(['dance', 'bee']);
});
