import { createHash, randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ChangeLog,
  type ChangeLogFacts,
  type FileContent,
  type FileLock,
  isLocked,
  type LoggedChanges,
  LorekeepError,
  lockFile,
} from '../../../lib/internal.js';
import { embeddingsKey, factsOf, type KnowledgeModel } from '../model.js';
import { askToLetGo } from '../operator/peers.js';
import type { Source } from '../resolve.js';
import type { LogHeader } from './frames.js';
import { remedyOfDamage } from './log-writer.js';

/** The parts of a source that its change log depends on. */
export type LogSource = Pick<
  Source,
  'path' | 'pathOf' | 'config' | 'files' | 'model' | 'readOnly' | 'versions' | 'log' | 'signal'
>;

/** Returns the header of a new log. */
export function newHeader(model: KnowledgeModel, records: FileContent, baseVersion: number): LogHeader {
  const id = randomBytes(8).toString('hex');
  return { id, dimension: factsOf(model).dimension, records, model: modelDigest(model), baseVersion };
}

function modelDigest(model: KnowledgeModel): string {
  return createHash('sha256').update(embeddingsKey(model)).digest('hex').slice(0, 16);
}

export const lockOf = (logFile: string): string => `${logFile}.lock`;

/** Reads the log of a knowledge base; undefined if it has none. @throws as ChangeLog.read() */
export async function readLog(
  { files, signal }: { files: Pick<LogSource['files'], 'changes'>; signal: LogSource['signal'] },
  from: { end?: number; version?: number } = {},
): Promise<ChangeLog | undefined> {
  const found = await stat(files.changes).catch(() => undefined);
  if (found === undefined) return undefined;
  try {
    return await ChangeLog.read(files.changes, { ...from, signal });
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code === 'CANCELLED') throw error;
    if (error.code === 'NOT_FOUND') return undefined;
    const { reason } = error.detail;
    if (error.code !== 'CORRUPT' || reason === undefined) throw error;
    throw LorekeepError.about(
      'CORRUPT',
      { file: files.changes, reason, remedy: remedyOfDamage },
      { cause: error },
    );
  }
}

/** The version that the records file has by itself; undefined if the log is about another records file. */
export function versionOfFile(
  { records, merge, baseVersion }: ChangeLogFacts,
  content: FileContent,
): number | undefined {
  if (isSame(records, content)) return baseVersion;
  return merge !== undefined && isSame(merge, content) ? merge.version : undefined;
}

export const isSame = (a: FileContent, b: FileContent): boolean =>
  a.size === b.size && a.checksum === b.checksum;

export const hasBatches = ({ frames }: Pick<ChangeLogFacts, 'frames'>): boolean =>
  frames.some(({ kind }) => kind === 'batch');

/** Refuses a log with vectors of another model. @throws UNSUPPORTED */
export function checkModel({ dimension, model }: ChangeLogFacts, source: LogSource): void {
  if (dimension === factsOf(source.model).dimension && model === modelDigest(source.model)) return;
  throw LorekeepError.about('UNSUPPORTED', {
    file: source.files.changes,
    mismatch: 'model',
    reason: `its changes were embedded with another model than ${JSON.stringify(source.config.embedding_model)}`,
    remedy: 'open the knowledge base with the former model and merge it, then change the model',
  });
}

/** Returns all changes of a log, which may be about another records file. */
export function foldAll(log: ChangeLog, { config, signal }: LogSource): Promise<LoggedChanges> {
  const { baseVersion: after, version: upTo } = log.facts;
  return log.fold({ after, upTo }, config.fields, { signal });
}

/** Longest time to wait for another process that puts merged files in place, and time between two looks, in ms. */
const longestMergeMs = 10_000;
const lookMs = 50;

/** Takes the lock of a log; undefined while another process puts merged files in place until it has, and undefined afterwards. */
export async function lockOrWait(source: LogSource): Promise<FileLock | undefined> {
  try {
    return lockFile(lockOf(source.files.changes));
  } catch (error) {
    if (!isLocked(error)) throw error;
  }
  const end = performance.now() + longestMergeMs;
  while (performance.now() < end) {
    await using log = await readLog(source);
    if (log?.facts.merge === undefined) break;
    await delay(lookMs, undefined, { signal: source.signal });
  }
  return undefined;
}

/** Longest wait for a process that changes a base for a moment, as a command does, in ms. */
const longestChangeMs = 2000;

/**
 * Takes the lock of a log, once a process that changes it for a moment has let go, or one that has changed it, as a server has, is asked
 * to. @throws IO (`detail.holder`), the signal's reason
 */
export async function lockSoon(
  source: { files: Pick<LogSource['files'], 'records' | 'changes'> },
  signal: AbortSignal | undefined,
): Promise<FileLock> {
  const { records, changes } = source.files;
  let end: number | undefined;
  for (;;) {
    try {
      return lockFile(lockOf(changes));
    } catch (error) {
      const holder = holderOf(error);
      if (holder === undefined || (end !== undefined && performance.now() >= end)) throw error;
      if (end === undefined && holder !== process.pid) await askToLetGo(records, holder, signal);
      end ??= performance.now() + longestChangeMs;
    }
    await delay(lookMs, undefined, { signal });
  }
}

/** Takes the lock; waits only for a base that this process is closing, because its files were replaced. @throws IO (`detail.holder`) */
export async function lockOfOwn(source: Parameters<typeof lockSoon>[0]): Promise<FileLock> {
  try {
    return lockFile(lockOf(source.files.changes));
  } catch (error) {
    if (holderOf(error) !== process.pid) throw error;
    return lockSoon(source, undefined);
  }
}

/** The number of the process that holds a lock, of the error about it; undefined for other errors. */
export const holderOf = (error: unknown) =>
  error instanceof LorekeepError && error.code === 'IO' ? error.detail.holder : undefined;

/** The warning about a log whose tail or content cannot be used; undefined for a whole one. */
export function damageWarning(file: string, { damage }: ChangeLogFacts): string | undefined {
  if (damage === undefined) return undefined;
  return damage.torn
    ? `${file}: its last batch is incomplete and was never acknowledged as durable; it is dropped`
    : `${file}: is damaged at byte ${damage.at}: ${damage.reason}; the changes before it are used, and no change is taken`;
}
