import type { Storage, UpdateResult } from '../../../lib/internal.js';
import { addForgotten } from '../folder/forgotten.js';
import type { LogSource } from './base-log.js';
import { dropTraces } from './forget.js';
import { tellForgotten } from './forgotten-batches.js';
import type { FormerRecords } from './former-records.js';
import { encodedBatch } from './frames.js';
import type { ChangeLogWriter } from './log-writer.js';
import { foldersOf } from './other-configs.js';
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
 * Removes records from memory and from every file: those that exist, and those that only earlier versions have (`former`). Their intent is durable before anything is removed: completeForget()
 * goes on where a process was killed. @throws IO; nothing is removed if the batch cannot be logged
 */
export async function forgetRecords(
  base: ForgettingBase,
  ids: readonly string[],
  former: FormerRecords,
  signal: AbortSignal | undefined,
): Promise<{ result: UpdateResult; texts: string[] }> {
  const { storage, source, writer } = base;
  const present: { id: string; text: string }[] = [];
  for (const id of ids) {
    const record = await storage.get(id, { signal });
    if (record !== undefined) present.push({ id, text: record.text });
  }
  const texts = new Set(present.map(({ text }) => text));
  const records = [...present, ...former.records.filter(({ text }) => !texts.has(text))];
  const removed = present.map(({ id }) => id);
  const batch = { log: writer.id, version: storage.version + (removed.length > 0 ? 1 : 0) };
  await writePendingForget(source.files.changes, { ...batch, records });
  try {
    if (removed.length > 0) await logRemoval(base, removed);
  } catch (error) {
    await endPendingForget(source.files.changes);
    throw error;
  }
  const result = await removeFrom(storage, removed);
  const all = [...records, ...[...former.known].map((id) => ({ id }))];
  await finish(base, [...former.batches, batch], all);
  return {
    result: { ...result, removed: ids.length },
    texts: records.map(({ text }) => text),
  };
}

/** Completes what a process began. A record that was made anew meanwhile stays. Returns whether there was something. @throws as forgetRecords() */
export async function completeForget(base: ForgettingBase): Promise<boolean> {
  const { storage, source, writer } = base;
  const pending = await readPendingForget(source.files.changes);
  if (pending === undefined) return false;
  const present: string[] = [];
  const anew = new Set<string>();
  for (const [id, texts] of textsById(pending.records)) {
    const found = await storage.get(id);
    if (found === undefined) continue;
    if (texts.has(found.text)) present.push(id);
    else anew.add(id);
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

function textsById(records: Texts): Map<string, Set<string>> {
  const texts = new Map<string, Set<string>>();
  for (const { id, text } of records) {
    const known = texts.get(id);
    if (known === undefined) texts.set(id, new Set([text]));
    else known.add(text);
  }
  return texts;
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
  records: readonly { id: string; text?: string }[],
): Promise<void> {
  const texts = records.map(({ text }) => text).filter((text) => text !== undefined);
  await storage.forget([...new Set(records.map(({ id }) => id))], { missingIsFine: true });
  await merge();
  await addForgotten(foldersOf(source), texts);
  await dropTraces(source, texts);
  await tellForgotten(source.files.changes, batches);
  await endPendingForget(source.files.changes);
}
