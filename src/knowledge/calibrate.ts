import { calibrationOptions } from '../../lib/basics.js';
import type { Calibration, SearchMode } from '../../lib/internal.js';
import { pairedDifference } from './evaluation-measures.js';
import type { JudgedHit } from './evaluation-relevance.js';

/** Corrections of relevance by the mode of a search: `relevance` of a knowledge base's config. */
export type Calibrations = { readonly [Mode in SearchMode]?: Calibration | undefined };

/** Returns the log odds of a relevance before its correction. */
export function estimatedOdds(relevance: number, { offset = 0, slope = 1 }: Calibration = {}): number {
  return (Math.log(relevance / (1 - relevance)) - offset) / slope;
}

/** A correction of relevance that judged hits ask for, and how much it helps. */
export interface FittedCalibration {
  /** For the config. It replaces the present correction. */
  calibration: Required<{ [Name in keyof Calibration]: number }>;
  /** Calibration error of the hits as they are. */
  error: number;
  /** The error with corrections fitted to other questions. */
  corrected: number;
  /** Reduction of the log loss of a hit by those corrections: the mean over the questions, and half of its 95 % interval. */
  gain: { mean: number; half: number };
}

interface Fit {
  offset: number;
  slope: number;
}

/** Log odds of a hit's relevance, and whether it is relevant: 1 or 0. */
interface Sample {
  odds: number;
  label: number;
}

const minQuestions = 20;
const folds = 5;
const bins = 10;
/** Relevance is kept this far from 0 and 1, whose odds have no logarithm. */
const minProbability = 1e-9;
/** Few hits move the offset away from 0 and the slope away from 1 by about these amounts, by chance. */
const deviation: Fit = { offset: 3, slope: 0.5 };
const maxSteps = 50;
const converged = 1e-9;

/**
 * Fits a logistic regression of the judgments on the log odds of relevance, with a normal prior at no correction. Platt:
 * Probabilistic Outputs for Support Vector Machines (1999). Returns undefined for fewer than 20 questions with hits, and
 * without hits of both kinds. `present`: the correction that the relevance of the hits has already.
 */
export function fitCalibration(
  questions: readonly (readonly JudgedHit[])[],
  present: Calibration = {},
): FittedCalibration | undefined {
  const samples = questions
    .filter(({ length }) => length > 0)
    .map((hits) =>
      hits.map(({ relevance, isRelevant }) => ({ odds: oddsOf(relevance), label: +isRelevant })),
    );
  const all = samples.flat();
  const relevant = all.filter(({ label }) => label === 1).length;
  if (samples.length < minQuestions || relevant === 0 || relevant === all.length) return undefined;
  const unchanged: Fit = { offset: 0, slope: 1 };
  const fits = Array.from({ length: folds }, (_, fold) =>
    fitted(samples.filter((_, index) => index % folds !== fold).flat()),
  );
  const fitOf = (index: number) => fits[index % folds] as Fit;
  const lossOf = (index: number, by: Fit) => meanLoss(samples[index] as Sample[], by);
  return {
    calibration: composed(fitted(all), present),
    error: calibrationError(all.map((sample) => judged(sample, unchanged))),
    corrected: calibrationError(
      samples.flatMap((hits, index) => hits.map((sample) => judged(sample, fitOf(index)))),
    ),
    gain: pairedDifference(
      samples.map((_, index) => lossOf(index, unchanged)),
      samples.map((_, index) => lossOf(index, fitOf(index))),
    ),
  };
}

/** Returns the mean difference between relevance and the share of relevant hits, over ten bins of relevance. */
export function calibrationError(hits: readonly JudgedHit[]): number {
  const surplus = new Float64Array(bins);
  for (const { relevance, isRelevant } of hits) {
    const bin = Math.min(bins - 1, Math.floor(relevance * bins));
    surplus[bin] = (surplus[bin] as number) + relevance - +isRelevant;
  }
  return surplus.reduce((sum, value) => sum + Math.abs(value), 0) / Math.max(1, hits.length);
}

/** Newton's method. The objective is convex, and its prior keeps the minimum finite. */
function fitted(samples: readonly Sample[]): Fit {
  const { min } = calibrationOptions.slope;
  const free = descend(samples, { offset: 0, slope: 1 }, true);
  return free.slope >= min ? free : descend(samples, { offset: free.offset, slope: min }, false);
}

function descend(samples: readonly Sample[], start: Fit, movesSlope: boolean): Fit {
  let at = start;
  let loss = objective(samples, at);
  for (let step = 0; step < maxSteps; step++) {
    const move = newtonStep(samples, at, movesSlope);
    let next = at;
    let nextLoss = loss;
    for (let share = 1; share > converged; share /= 2) {
      next = { offset: at.offset - share * move.offset, slope: at.slope - share * move.slope };
      nextLoss = objective(samples, next);
      if (nextLoss <= loss) break;
    }
    if (!(nextLoss < loss - converged)) break;
    at = next;
    loss = nextLoss;
  }
  return at;
}

function newtonStep(samples: readonly Sample[], at: Fit, movesSlope: boolean): Fit {
  const prior = { offset: deviation.offset ** -2, slope: deviation.slope ** -2 };
  const gradient = { offset: at.offset * prior.offset, slope: (at.slope - 1) * prior.slope };
  const curvature = { offset: prior.offset, slope: prior.slope, both: 0 };
  for (const { odds, label } of samples) {
    const probability = probabilityOf(at.offset + at.slope * odds);
    const weight = probability * (1 - probability);
    gradient.offset += probability - label;
    gradient.slope += (probability - label) * odds;
    curvature.offset += weight;
    curvature.both += weight * odds;
    curvature.slope += weight * odds * odds;
  }
  if (!movesSlope) return { offset: gradient.offset / curvature.offset, slope: 0 };
  const determinant = curvature.offset * curvature.slope - curvature.both ** 2;
  return {
    offset: (curvature.slope * gradient.offset - curvature.both * gradient.slope) / determinant,
    slope: (curvature.offset * gradient.slope - curvature.both * gradient.offset) / determinant,
  };
}

function objective(samples: readonly Sample[], by: Fit): number {
  const prior = (by.offset / deviation.offset) ** 2 + ((by.slope - 1) / deviation.slope) ** 2;
  return prior / 2 + samples.reduce((sum, sample) => sum + lossOf(sample, by), 0);
}

/** Returns the log loss: the logarithm of 1 + exp(-margin), without overflow. */
function lossOf({ odds, label }: Sample, { offset, slope }: Fit): number {
  const margin = (offset + slope * odds) * (2 * label - 1);
  return Math.max(0, -margin) + Math.log1p(Math.exp(-Math.abs(margin)));
}

const meanLoss = (samples: readonly Sample[], by: Fit) =>
  samples.reduce((sum, sample) => sum + lossOf(sample, by), 0) / samples.length;

const judged = ({ odds, label }: Sample, { offset, slope }: Fit): JudgedHit => ({
  relevance: probabilityOf(offset + slope * odds),
  isRelevant: label === 1,
});

const probabilityOf = (odds: number) => 1 / (1 + Math.exp(-odds));

function oddsOf(probability: number): number {
  const inside = Math.min(1 - minProbability, Math.max(minProbability, probability));
  return Math.log(inside / (1 - inside));
}

/** Returns the correction equal to `present` followed by `further`, rounded for a config file. */
function composed(further: Fit, { offset = 0, slope = 1 }: Calibration): Fit {
  return {
    offset: inRange('offset', further.offset + further.slope * offset),
    slope: inRange('slope', further.slope * slope),
  };
}

function inRange(name: keyof Fit, value: number): number {
  const { min, max } = calibrationOptions[name];
  return Math.min(max, Math.max(min, Math.round(value * 100) / 100));
}
