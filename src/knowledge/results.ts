import { type NextSlice, Slices } from '../../lib/basics.js';
import type { Metadata, MetadataValue, StoredRecord } from '../../lib/internal.js';
import { type ResultChoice, rankedHits } from './result-options.js';
import { weighted } from './score-factors.js';
import type { StorageEngine } from './storage-engine.js';

/** A context record of a hit. */
export interface ContextRecord {
  /** Unique within the storage. */
  id: string;
  /** The record's text. */
  text: string;
}

/** The records around a hit, in the storage's order. */
export interface HitContext {
  /** In the order of the storage. */
  before: ContextRecord[];
  /** In the order of the storage. */
  after: ContextRecord[];
}

interface Ranked {
  readonly ordinal: number;
  readonly id: string;
  readonly metadata?: Metadata;
  rank: number;
  score: number;
}

/**
 * Chooses hits from a ranking, best first, and numbers them; the first has the rank `offset` + 1. `versionTime`: when the version was
 * made. Ages count to it, so that a version answers the same at any time.
 */
export async function chooseHits<Hit extends Ranked>(
  ranking: readonly Hit[],
  choice: ResultChoice,
  {
    storage,
    versionTime,
    signal,
  }: { storage: StorageEngine; versionTime: number; signal: AbortSignal | undefined },
): Promise<Hit[]> {
  const { offset, topK, group, distance, similarTo, factors } = choice;
  let left = similarTo === undefined ? ranking : ranking.filter(({ id }) => id !== similarTo);
  if (factors !== undefined) left = weighted(left, factors, versionTime);
  if (distance !== undefined) {
    // Without groups, hits beyond the page are not needed.
    const most = group === undefined ? offset + topK : rankedHits;
    const ordinals = Uint32Array.from(left, ({ ordinal }) => ordinal);
    const kept = await storage.distinct(ordinals, distance, most, signal);
    left = Array.from(kept, (position) => left[position] as Hit);
  }
  if (group !== undefined) left = grouped(left, group.field, group.size);
  return page(left, offset, topK);
}

/** Returns the hits of a page, numbered from `offset` + 1. They are not copied. */
export function page<Hit extends Pick<Ranked, 'rank'>>(
  hits: readonly Hit[],
  offset: number,
  topK: number,
): Hit[] {
  const shown = hits.slice(offset, offset + topK);
  for (const [index, hit] of shown.entries()) hit.rank = offset + index + 1;
  return shown;
}

/** Returns the first `size` hits of each value of a field, and all hits without one. */
export function grouped<Hit extends Pick<Ranked, 'metadata'>>(
  hits: readonly Hit[],
  field: string,
  size: number,
): Hit[] {
  const counts = new Map<MetadataValue, number>();
  return hits.filter(({ metadata }) => {
    const value = metadata?.[field];
    if (value === undefined) return true;
    const count = (counts.get(value) ?? 0) + 1;
    counts.set(value, count);
    return count <= size;
  });
}

/**
 * Adds the records around them to hits. The records of one hit are adjacent and share its value of the field. Awaits `nextSlice`
 * before each slice of the work.
 */
export async function addContext(
  hits: readonly (Ranked & { context?: HitContext })[],
  { records, field }: NonNullable<ResultChoice['context']>,
  storage: StorageEngine,
  { signal, nextSlice }: { signal: AbortSignal | undefined; nextSlice: NextSlice },
): Promise<void> {
  const slices = new Slices(nextSlice, signal);
  const around = new Set<number>();
  await slices.each(hits, ({ ordinal }) => {
    const last = Math.min(storage.size - 1, ordinal + records);
    for (let at = Math.max(0, ordinal - records); at <= last; at++) if (at !== ordinal) around.add(at);
  });
  const known = new Map<number, StoredRecord>();
  const found = await storage.recordsAt(Uint32Array.from(around), signal, nextSlice);
  await slices.each(found, (record) => known.set(record.ordinal, record));
  await slices.each(hits, (hit) => {
    const value = field === undefined ? undefined : hit.metadata?.[field];
    const beside = (step: 1 | -1) => {
      const taken: ContextRecord[] = [];
      for (let distance = 1; distance <= records; distance++) {
        const record = known.get(hit.ordinal + step * distance);
        if (record === undefined || (field !== undefined && record.metadata?.[field] !== value)) break;
        taken.push({ id: record.id, text: record.text });
      }
      return taken;
    };
    hit.context = { before: beside(-1).reverse(), after: beside(1) };
  });
}
