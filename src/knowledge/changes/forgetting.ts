import type { Storage, UpdateResult } from '../../../lib/internal.js';
import { addForgotten } from '../folder/forgotten.js';
import type { LogSource } from './base-log.js';
import { dropTraces } from './forget.js';
import { tellForgotten } from './forgotten-batches.js';
import { encodedBatch } from './frames.js';
import type { ChangeLogWriter } from './log-writer.js';
import {
  endPendingForget,
  type PendingForget,
  readPendingForget,
  writePendingForget,
} from './pending-forget.js';

/** A knowledge base that lets no other batch in meanwhile. */
export interface ForgettingBase {
  storage: Storage;
  source: LogSource;
  writer: ChangeLogWriter;
  /** Writes the changes into the files. */
  merge(): Promise<void>;
}

type Texts = PendingForget['records'];
type Batch = Pick<PendingForget, 'log' | 'version'>;

/**
 * Removes records that exist from memory and from every file. Their intent is durable before anything is removed: completeForget()
 * goes on where a process was killed. @throws IO; nothing is removed if the batch cannot be logged
 */
export async function forgetRecords(
  base: ForgettingBase,
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ result: UpdateResult; texts: string[] }> {
  const { storage, source, writer } = base;
  const records: { id: string; text: string }[] = [];
  for (const id of ids) {
    const record = await storage.get(id, { signal });
    if (record !== undefined) records.push({ id, text: record.text });
  }
  const batch = { log: writer.id, version: storage.version + 1 };
  await writePendingForget(source.files.changes, { ...batch, records });
  try {
    await logRemoval(base, ids);
  } catch (error) {
    await endPendingForget(source.files.changes);
    throw error;
  }
  const result = await removeFrom(storage, ids);
  await finish(base, [batch], records);
  return { result, texts: records.map(({ text }) => text) };
}

/** Completes what a process began. A record that was made anew meanwhile stays. Returns whether there was something. @throws as forgetRecords() */
export async function completeForget(base: ForgettingBase): Promise<boolean> {
  const { storage, source, writer } = base;
  const pending = await readPendingForget(source.files.changes);
  if (pending === undefined) return false;
  const present: string[] = [];
  const anew = new Set<string>();
  for (const { id, text } of pending.records) {
    const found = await storage.get(id);
    if (found?.text === text) present.push(id);
    else if (found !== undefined) anew.add(id);
  }
  const batches: Batch[] = [pending];
  if (present.length > 0) {
    batches.push({ log: writer.id, version: storage.version + 1 });
    await logRemoval(base, present);
    await removeFrom(storage, present);
  }
  await finish(
    base,
    batches.map(({ log, version }) => ({ log, version })),
    pending.records.filter(({ id }) => !anew.has(id)),
  );
  return true;
}

async function logRemoval({ storage, writer }: ForgettingBase, ids: readonly string[]): Promise<void> {
  const batch = await encodedBatch(ids.map((id) => ({ kind: 'remove', id })));
  await writer.append(storage.version + 1, Date.now(), batch);
}

const removeFrom = (storage: Storage, remove: readonly string[]): Promise<UpdateResult> =>
  storage.update({ remove }, new Float32Array(0));

async function finish(
  { storage, source, merge }: ForgettingBase,
  batches: readonly Batch[],
  records: Texts,
): Promise<void> {
  const texts = records.map(({ text }) => text);
  await storage.forget(
    records.map(({ id }) => id),
    { missingIsFine: true },
  );
  await merge();
  await addForgotten(source.path, texts);
  await dropTraces(source, texts);
  await tellForgotten(source.files.changes, batches);
  await endPendingForget(source.files.changes);
}
