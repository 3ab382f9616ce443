import { describe, expect, it } from 'vitest';
import type { KnowledgeSource } from '../../../src/agents/interaction.js';
import { bestRelevance } from '../../../src/agents/nodes/generate/relevance.js';
import type { Knowledge } from '../../../src/protocol/components.js';

const hit = (relevance: number | undefined, text: string, node = 'kb'): Knowledge => ({
  _type: 'knowledge',
  node,
  storage: 'docs',
  id: text,
  text,
  rank: 1,
  score: 1,
  relevance,
});

/** What "red lamp" found in a storage of this many records; each word is in a tenth of them. */
const source = (size: number): KnowledgeSource => ({
  query: 'red lamp',
  storage: { tokenizer: 'basic', size, documentFrequency: () => size / 10 },
});
const of = (size: number, ...hits: Knowledge[]) => bestRelevance(hits, new Map([['kb', source(size)]]));

describe('the relevance of the best record', () => {
  it('is the highest that the search estimated, if the records share few words with the query', async () => {
    expect(await of(50, hit(0.1, 'nothing'), hit(0.3, 'else'))).toBe(0.3);
    expect(await of(1000, hit(0.7, 'else'))).toBe(0.7);
    expect(await of(1000, hit(undefined, 'nothing'))).toBeLessThan(0.01);
    expect(await of(1000)).toBe(0);
  });

  it('grows with the words that a record shares with the query', async () => {
    const none = await of(1000, hit(0.1, 'nothing'));
    const one = await of(1000, hit(0.1, 'a red door'));
    const both = await of(1000, hit(0.1, 'a red lamp'));
    expect(none).toBe(0.1);
    expect(one).toBeGreaterThan(0.5);
    expect(both).toBeGreaterThan(one);
    expect(await of(1000, hit(undefined, 'a red lamp'))).toBeLessThan(0.5);
  });

  it('is less in a larger storage, where the best of many records shares words by chance', async () => {
    const found = hit(0.05, 'a red door');
    expect(await of(10, found)).toBeGreaterThan(0.5);
    expect(await of(300, found)).toBeLessThan(0.5);
    expect(await of(100_000, found)).toBeCloseTo(await of(300, found));
  });

  it('takes each record by the storage that it is from', async () => {
    const sources = new Map([
      ['small', source(10)],
      ['large', source(1000)],
    ]);
    const [inSmall, inLarge] = [hit(0.05, 'a red door', 'small'), hit(0.05, 'a red door', 'large')];
    expect(await bestRelevance([inLarge], sources)).toBeLessThan(0.5);
    expect(await bestRelevance([inLarge, inSmall], sources)).toBeCloseTo(
      await of(10, hit(0.05, 'a red door')),
    );
    expect(await bestRelevance([hit(0.2, 'red lamp', 'unknown')], sources)).toBe(0.2);
  });
});
