import { describe, expect, it } from 'vitest';
import type { KnowledgeSource } from '../../../src/agents/interaction.js';
import { bestRelevance } from '../../../src/agents/nodes/generate/relevance.js';
import type { Knowledge } from '../../../src/protocol/components.js';

/** A hit of a lexical search, or with a cosine of one by meaning. */
const hit = (
  relevance: number | undefined,
  text: string,
  { node = 'kb', cosine = Number.NaN } = {},
): Knowledge => ({
  _type: 'knowledge',
  node,
  storage: 'docs',
  id: text,
  text,
  rank: 1,
  score: 1,
  relevance,
  ...(!Number.isNaN(cosine) && { distance: 1 - cosine }),
});

/** What "red lamp" found in a storage of this many records; each word is in a tenth of them. */
const source = (size: number, cosineFloor?: number): KnowledgeSource => ({
  query: 'red lamp',
  storage: { tokenizer: 'basic', size, documentFrequency: () => size / 10 },
  cosineFloor,
});
const of = (size: number, ...hits: Knowledge[]) => bestRelevance(hits, new Map([['kb', source(size)]]));
const byMeaning = (size: number, cosine: number, text: string, floor = 0) =>
  bestRelevance([hit(0.05, text, { cosine })], new Map([['kb', source(size, floor)]]));

describe('the relevance of the best record of a lexical search', () => {
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

  it('judges words by the relevance before its correction', async () => {
    const calibration = { offset: 2, slope: 0.5 };
    const corrected = (relevance: number) =>
      1 / (1 + Math.exp(-(2 + 0.5 * Math.log(relevance / (1 - relevance)))));
    const sources = new Map([['kb', { ...source(1000), calibration }]]);
    const found = await bestRelevance([hit(corrected(0.1), 'a red lamp')], sources);
    expect(found).toBeCloseTo(await of(1000, hit(0.1, 'a red lamp')), 9);
    const other = await bestRelevance([hit(corrected(0.1), 'nothing')], sources);
    expect(other).toBeCloseTo(await of(1000, hit(0.1, 'nothing')), 9);
    expect(await bestRelevance([hit(0, 'nothing')], sources)).toBeLessThan(0.01);
    expect(await bestRelevance([hit(1, 'nothing')], sources)).toBe(1);
  });

  it('takes each record by the storage that it is from', async () => {
    const sources = new Map([
      ['small', source(10)],
      ['large', source(1000)],
    ]);
    const [inSmall, inLarge] = [
      hit(0.05, 'a red door', { node: 'small' }),
      hit(0.05, 'a red door', { node: 'large' }),
    ];
    expect(await bestRelevance([inLarge], sources)).toBeLessThan(0.5);
    expect(await bestRelevance([inLarge, inSmall], sources)).toBe(await of(10, hit(0.05, 'a red door')));
    expect(await bestRelevance([hit(0.2, 'red lamp', { node: 'unknown' })], sources)).toBe(0.2);
  });
});

describe('the relevance of the best record of a search by meaning', () => {
  it('is high for a near record, though it shares no word with the query', async () => {
    expect(await byMeaning(240, 0.6, 'a crimson light')).toBeGreaterThan(0.5);
    expect(await byMeaning(240, 0.15, 'a crimson light')).toBeLessThan(0.2);
  });

  it('grows with the cosine and with the words, and sinks with the size', async () => {
    const base = await byMeaning(240, 0.35, 'a crimson light');
    expect(await byMeaning(240, 0.4, 'a crimson light')).toBeGreaterThan(base);
    expect(await byMeaning(240, 0.35, 'a crimson lamp')).toBeGreaterThan(base);
    expect(await byMeaning(1200, 0.35, 'a crimson light')).toBeLessThan(base);
  });

  it('counts cosines from the floor of the query, wherever the cosines of the model lie', async () => {
    const low = await byMeaning(240, 0.5, 'a crimson light');
    expect(await byMeaning(240, 0.85, 'a crimson light', 0.7)).toBeCloseTo(low, 6);
    expect(await byMeaning(240, 0.7, 'a crimson light', 0.7)).toBeLessThan(0.1);
    expect(await byMeaning(1, 1, 'a crimson light', 1)).toBeLessThan(0.5);
  });
});
