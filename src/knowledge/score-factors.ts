import { type ImportanceOptions, type RecencyOptions, resultOptions } from '../../lib/basics.js';
import { type Metadata, optionsCheck, refuse } from '../../lib/internal.js';
import type { StorageEngine } from './storage-engine.js';

/** Factors of the scores of hits, checked against the storage's fields. */
export interface ScoreFactors {
  readonly recency:
    | { readonly field: string; readonly halfLifeMs: number; readonly weight: number }
    | undefined;
  readonly importance: { readonly field: string; readonly weight: number } | undefined;
}

/** Returns undefined without factors. @throws INVALID_ARGUMENT for a field that has no times or no numbers */
export function scoreFactors(
  {
    recency,
    importance,
  }: { recency?: RecencyOptions | undefined; importance?: ImportanceOptions | undefined },
  storage: StorageEngine,
): ScoreFactors | undefined {
  if (recency === undefined && importance === undefined) return undefined;
  return {
    recency: recency && recencyOf(recency, storage),
    importance: importance && importanceOf(importance, storage),
  };
}

const { recency: recencyOption, importance: importanceOption } = resultOptions;

const checkRecency = optionsCheck(recencyOption.fields, 'recency.');
const checkImportance = optionsCheck(importanceOption.fields, 'importance.');

function recencyOf(given: RecencyOptions, storage: StorageEngine): ScoreFactors['recency'] {
  checkRecency(given);
  const usual = recencyOption.fields;
  const { field = usual.field.usual, halfLifeS = usual.halfLifeS.usual, weight = usual.weight.usual } = given;
  const found = fieldOf('recency.field', field, storage);
  if (found.type !== 'int' || found.format === undefined)
    refuse('recency.field', `${JSON.stringify(field)} has no times; an int field with a format is expected`);
  return { field, halfLifeMs: 1000 * halfLifeS, weight };
}

function importanceOf(given: ImportanceOptions, storage: StorageEngine): ScoreFactors['importance'] {
  checkImportance(given);
  const usual = importanceOption.fields;
  const { field = usual.field.usual, weight = usual.weight.usual } = given;
  const found = fieldOf('importance.field', field, storage);
  if (found.type !== 'float' && found.type !== 'int')
    refuse('importance.field', `${JSON.stringify(field)} has no numbers`);
  return { field, weight };
}

function fieldOf(option: string, name: string, storage: StorageEngine) {
  const { fields = [] } = storage;
  const found = fields.find((field) => field.name === name);
  if (found !== undefined) return found;
  const names = fields.map((field) => field.name).join(', ');
  refuse(
    option,
    `the records have no field ${JSON.stringify(name)}; they have ${names === '' ? 'none' : names}`,
  );
}

/** Least number of hits whose order the factors decide, and their share of the wanted ones. */
const leastWeighted = 50;
const weightedPerHit = 10;

/** Returns how many hits are ranked before the factors choose `wanted` of them. */
export const weightedHits = (wanted: number): number => Math.max(leastWeighted, weightedPerHit * wanted);

/**
 * Multiplies the scores of hits by their factors, and sorts by them; equal ones keep their order. With R = 2^(-age / half-life), the
 * importance I from 0 to 1, and the weights r and i, the factor is (1 - r + r R) (1 - i + i I). `now`: ms since 1970, for the ages.
 */
export function weighted<Hit extends { score: number; readonly metadata?: Metadata }>(
  hits: readonly Hit[],
  factors: ScoreFactors,
  now: number,
): Hit[] {
  for (const hit of hits) hit.score = scaled(hit.score, factorOf(hit.metadata, factors, now));
  return hits.toSorted((a, b) => b.score - a.score);
}

/** A score below 0 falls with its factor, too. */
const scaled = (score: number, factor: number) => score * (score >= 0 ? factor : 2 - factor);

function factorOf(
  metadata: Metadata | undefined,
  { recency, importance }: ScoreFactors,
  now: number,
): number {
  let factor = 1;
  if (recency !== undefined) {
    const { field, halfLifeMs, weight } = recency;
    const age = Math.max(0, now - timeOf(metadata?.[field]));
    factor *= 1 - weight + weight * 2 ** (-age / halfLifeMs);
  }
  if (importance !== undefined) {
    const { field, weight } = importance;
    const value = Number(metadata?.[field] ?? 0);
    factor *= 1 - weight + weight * Math.min(1, Math.max(0, value));
  }
  return factor;
}

/** A record without a time is older than all others. */
function timeOf(value: unknown): number {
  const time = typeof value === 'string' ? Date.parse(value) : Number(value ?? Number.NEGATIVE_INFINITY);
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}
