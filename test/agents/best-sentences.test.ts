import { describe, expect, it } from 'vitest';
import { tokenize } from '../../lib/internal.js';
import { bestSentences, maxText } from '../../src/agents/nodes/quote/best-sentences.js';
import type { Knowledge } from '../../src/protocol/components.js';

const found = (text: string, rank = 1): Knowledge => ({
  _type: 'knowledge',
  node: 'kb',
  storage: 'docs',
  id: String(rank),
  text,
  rank,
  score: 1,
});

const storage = { tokenizer: 'basic' as const, size: 10, documentFrequency: () => 1 };
const sources = new Map([['kb', { query: 'needle', storage }]]);
const wanted = { count: 3, minScore: 0.1 };
const { signal } = new AbortController();

it('few records do not make the words that they lack the most important ones', async () => {
  const texts = [
    'The boat house key hangs behind the kitchen door.',
    'The bakery opens at six, but not on Mondays.',
    'The lamp is lit at dusk.',
  ];
  const words = texts.map((text) => new Set(tokenize(text, 'multilingual')));
  const documentFrequency = (word: string) => words.filter((each) => each.has(word)).length;
  const few = { tokenizer: 'multilingual' as const, size: texts.length, documentFrequency };
  const quoted = async (query: string) => {
    const records = texts.map((text, index) => found(text, index + 1));
    const asked = new Map([['kb', { query, storage: few }]]);
    const { best } = await bestSentences(records, asked, { count: 1, minScore: 0.2 }, signal);
    return best[0]?.text;
  };
  expect(await quoted('When does the bakery on Mill Lane open?')).toBe(texts[1]);
  expect(await quoted('Where is it that we keep the key for that boat of ours?')).toBe(texts[0]);
  expect(await quoted('Where is the unicorn parked?')).toBeUndefined();
});

describe('the best sentences', () => {
  it('come from the first mebi of text, and others are served meanwhile', async () => {
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const filler = 'x '.repeat(5_000_000);
    const { best } = await bestSentences(
      [found(`A needle. ${filler} Another needle.`), found('A third needle.', 2)],
      sources,
      wanted,
      signal,
    );
    clearImmediate(next);
    expect(best.map(({ text }) => text.slice(0, 9))).toEqual(['A needle.']);
    expect(turns).toBeGreaterThan(maxText / 100_000);
  });

  it('are given up when the signal aborts, with its reason', async () => {
    const cancelling = new AbortController();
    const searching = bestSentences([found('word. '.repeat(100_000))], sources, wanted, cancelling.signal);
    cancelling.abort(new Error('enough'));
    await expect(searching).rejects.toThrow('enough');
  });

  it('of equal score come from the record that was found first, and one text counts once', async () => {
    const { best, count } = await bestSentences(
      [found('Needle two. A needle.', 2), found('A needle. Needle one.', 1), found('No such word.', 3)],
      sources,
      wanted,
      signal,
    );
    expect(best.map(({ text, knowledge }) => [text, knowledge.rank])).toEqual([
      ['A needle.', 1],
      ['Needle one.', 1],
      ['Needle two.', 2],
    ]);
    expect(count).toBe(5);
  });

  it('are in their places in texts with lone surrogates', async () => {
    const text = '\ud800 Before\udc00. The needle \ud83d! After.';
    const { best } = await bestSentences([found(text)], sources, wanted, signal);
    expect(best.map(({ start, end }) => text.slice(start, end))).toEqual(['The needle \ud83d!']);
  });
});
