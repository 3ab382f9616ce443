import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JudgedHit, summariseRelevance } from '../../src/knowledge/evaluation-relevance.js';
import { testSeed } from '../helpers/random.js';

const judged = fc.record({
  relevance: fc.integer({ min: 0, max: 20 }).map((value) => value / 20),
  isRelevant: fc.boolean(),
});

function relevances(hits: readonly JudgedHit[], wanted: boolean): number[] {
  return hits.filter(({ isRelevant }) => isRelevant === wanted).map(({ relevance }) => relevance);
}

test('the AUROC counts all pairs, ties half', () => {
  fc.assert(
    fc.property(fc.array(judged, { minLength: 1, maxLength: 60 }), (hits) => {
      const others = relevances(hits, false);
      const wins = relevances(hits, true).flatMap((a) =>
        others.map((b) => (a > b ? 1 : a === b ? 0.5 : 0) as number),
      );
      const { auroc } = summariseRelevance(hits);
      if (wins.length === 0) expect(auroc).toBeUndefined();
      else expect(auroc).toBeCloseTo(wins.reduce((sum, one) => sum + one, 0) / wins.length, 12);
    }),
    { seed: testSeed },
  );
});

test('minScore keeps 95 % of the relevant hits, and nothing greater does', () => {
  fc.assert(
    fc.property(fc.array(judged, { minLength: 1, maxLength: 60 }), (hits) => {
      const { minScore, dropped } = summariseRelevance(hits);
      const relevant = relevances(hits, true);
      if (relevant.length === 0) {
        expect(minScore).toBeUndefined();
        return;
      }
      const keeps = (limit: number) =>
        relevant.filter((value) => value >= limit).length >= 0.95 * relevant.length;
      expect(keeps(minScore as number)).toBe(true);
      expect(keeps((minScore as number) + 0.0011)).toBe(false);
      const others = relevances(hits, false);
      const below = others.filter((value) => value < (minScore as number)).length;
      if (others.length > 0) expect(dropped).toBe(below / others.length);
    }),
    { seed: testSeed },
  );
});

test('without relevant hits there is no minScore', () => {
  expect(summariseRelevance([])).toEqual({ hits: 0, relevant: 0, mean: 0 });
  expect(summariseRelevance([{ relevance: 0.5, isRelevant: false }])).toEqual({
    hits: 1,
    relevant: 0,
    mean: 0.5,
  });
});
