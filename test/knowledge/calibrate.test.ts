import { expect, test } from 'vitest';
import { calibrationError, fitCalibration } from '../../src/knowledge/calibrate.js';
import type { JudgedHit } from '../../src/knowledge/evaluation-relevance.js';
import { random, testSeed } from '../helpers/random.js';

const probability = (odds: number) => 1 / (1 + Math.exp(-odds));

/** Questions of ten hits whose relevance is wrong by this correction. */
function judgedQuestions(count: number, { offset, slope }: { offset: number; slope: number }): JudgedHit[][] {
  const next = random(testSeed);
  return Array.from({ length: count }, () =>
    Array.from({ length: 10 }, () => {
      const odds = 8 * next() - 6;
      return { relevance: probability(odds), isRelevant: next() < probability(offset + slope * odds) };
    }),
  );
}

test(`finds the correction that the judgments follow, seed ${testSeed}`, () => {
  const found = fitCalibration(judgedQuestions(2000, { offset: 1.5, slope: 0.6 }));
  expect(found?.calibration.offset).toBeCloseTo(1.5, 0);
  expect(found?.calibration.slope).toBeCloseTo(0.6, 0);
  expect(found?.error).toBeGreaterThan(0.15);
  expect(found?.corrected).toBeLessThan(0.03);
  expect(found?.gain.mean).toBeGreaterThan(found?.gain.half ?? 0);
});

test('changes little where relevance agrees with the judgments', () => {
  const { calibration, gain } = fitCalibration(judgedQuestions(500, { offset: 0, slope: 1 })) ?? {};
  expect(calibration?.offset).toBeCloseTo(0, 0);
  expect(calibration?.slope).toBeCloseTo(1, 0);
  expect(gain?.mean).toBeLessThan(0.01);
});

test('takes the place of the correction that the hits have already', () => {
  const present = { offset: 1, slope: 0.8 };
  const questions = judgedQuestions(500, { offset: 0.5, slope: 0.7 });
  const once = fitCalibration(questions)?.calibration;
  const again = fitCalibration(questions, present)?.calibration;
  expect(again?.offset).toBeCloseTo((once?.offset ?? 0) + (once?.slope ?? 0) * present.offset, 1);
  expect(again?.slope).toBeCloseTo((once?.slope ?? 0) * present.slope, 1);
});

test('needs twenty questions with hits, and hits of both kinds', () => {
  const questions = judgedQuestions(19, { offset: 0, slope: 1 });
  expect(fitCalibration(questions)).toBeUndefined();
  expect(fitCalibration([...questions, [], []])).toBeUndefined();
  expect(fitCalibration([...questions, ...questions])).toBeDefined();
  const all = (isRelevant: boolean) => Array.from({ length: 30 }, () => [{ relevance: 0.5, isRelevant }]);
  expect(fitCalibration(all(true))).toBeUndefined();
  expect(fitCalibration(all(false))).toBeUndefined();
});

test.each([
  ['relevance of 0 and 1', (relevant: boolean) => (relevant ? 1 : 0)],
  ['the least relevance for what is relevant', (relevant: boolean) => (relevant ? 0 : 1)],
  ['one relevance for all', () => 0.5],
])('is within its range for %s', (_, relevanceOf) => {
  const hits = [true, false].map((isRelevant) => ({ isRelevant, relevance: relevanceOf(isRelevant) }));
  const { offset, slope } = fitCalibration(Array.from({ length: 40 }, () => hits))?.calibration ?? {};
  expect(Math.abs(offset ?? Number.NaN)).toBeLessThanOrEqual(20);
  expect(slope).toBeGreaterThanOrEqual(0.01);
  expect(slope).toBeLessThanOrEqual(10);
});

test('the calibration error is the difference of the means of each bin', () => {
  const hits = [0.1, 0.15, 0.9, 1].map((relevance, index) => ({ relevance, isRelevant: index > 1 }));
  expect(calibrationError(hits)).toBeCloseTo((0.1 + 0.15 + 0.1 + 0) / 4, 12);
  expect(calibrationError([])).toBe(0);
});
