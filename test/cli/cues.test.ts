import { expect, it } from 'vitest';
import { cuesOf } from '../../src/cli/transcribe/cues.js';

/** A segment that begins at 1 s, with a word each `ms`. */
function segment(text: string, ms: number, split: string | RegExp = ' ') {
  const words = text.split(split).map((word, i) => ({
    text: word,
    ...{ beginMs: 990 + i * ms, endMs: 990 + (i + 1) * ms, probability: 1 },
  }));
  const endMs = 1000 + words.length * ms;
  return { beginMs: 1000, endMs, text, words, language: 'en', probability: 1 };
}

it('a short segment is one subtitle', () => {
  expect(cuesOf(segment('Yes. No.', 300))).toEqual([{ beginMs: 1000, endMs: 1600, text: 'Yes. No.' }]);
});

it.each([
  [' ', segment('one two three four five six seven eight nine ten '.repeat(30).trim(), 250)],
  ['', segment('火星の港は夜も明るい'.repeat(40), 120, '')],
  [' ', segment('slow '.repeat(30).trim(), 2000)],
])('long segments are cut between words: %#', (join, long) => {
  const cues = cuesOf(long);
  expect(cues.map(({ text }) => text).join(join)).toBe(long.text);
  expect(cues.length).toBeGreaterThan(4);
  for (const [i, { beginMs, endMs, text }] of cues.entries()) {
    expect(text.length).toBeLessThanOrEqual(84);
    expect(endMs - beginMs).toBeLessThanOrEqual(7000 + 10);
    expect(endMs).toBeGreaterThan(beginMs);
    expect(beginMs).toBe(i === 0 ? 1000 : cues[i - 1]?.endMs);
  }
  expect(cues.at(-1)?.endMs).toBe(long.endMs);
});

it('a sentence that fills a line ends its subtitle', () => {
  const first = 'The ferry to the mainland leaves on Tuesdays.';
  expect(cuesOf(segment(`${first} Dogs travel free.`, 300)).map(({ text }) => text)).toEqual([
    first,
    'Dogs travel free.',
  ]);
});

it('words without times, or that are not in the text, leave it whole', () => {
  const { words, ...long } = segment('word '.repeat(100).trim(), 0);
  expect(cuesOf({ ...long, endMs: 9000, words })).toHaveLength(1);
  const others = words.map((word) => ({ ...word, text: 'x' }));
  expect(cuesOf({ ...long, endMs: 9000, words: others })).toMatchObject([{ text: long.text }]);
});
