import { existsSync } from 'node:fs';
import { chmod, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { moveOver, syncFolder, systemReason } from '../../../lib/basics.js';
import {
  ChangeLog,
  type ChangeLogFacts,
  type FileContent,
  identifyFile,
  LorekeepError,
  Records,
  removeStrayFiles,
  type Storage,
} from '../../../lib/internal.js';
import { ownerOf } from '../destinations.js';
import { KeptEmbeddings } from '../kept-embeddings.js';
import { indexFingerprint } from '../model.js';
import { isSame, type LogSource, lockOrWait, newHeader, readLog, versionOfFile } from './base-log.js';
import { graphOf } from './graph-of.js';
import { ChangeLogWriter } from './log-writer.js';

const permissionBits = 0o777;

/** Suffix of files that a merge has written and not yet put in place. */
const pending = '.merging';

/** A records file without records, as a merge writes it. Beside a change log about it, the base was emptied by changes. */
export const emptiedContent = '[\n\n]\n';

export const isEmptied = ({ size }: FileContent): boolean => size === emptiedContent.length;

/** The files that a merge replaces, in the order in which they are put in place: the records file is the last one. */
const mergedFiles = ({ files }: Pick<LogSource, 'files'>): string[] =>
  [files.indexPlace, files.textIndex, files.records].filter((file) => file !== undefined);

/**
 * Writes the records with all changes, the index and the text index anew, then starts the log anew. The caller lets no change in
 * meanwhile. A process that ends on the way leaves the files of before, or a mark in the log with which settleLog() completes the
 * merge. @throws IO, CORRUPT, CANCELLED: the log goes on
 */
export async function mergeFiles(
  storage: Storage,
  source: LogSource,
  content: FileContent,
  writer: ChangeLogWriter,
): Promise<FileContent> {
  const { version } = storage;
  let merged: FileContent;
  try {
    merged = await writePending(storage, source, content);
  } catch (error) {
    await dropPending(source);
    throw error;
  }
  await giveAccess(source);
  await writer.mark(writer.version, Date.now(), merged);
  await putInPlace(source, merged);
  await writer.restart(newHeader(source.model, merged, version), writer.size);
  return merged;
}

async function writePending(storage: Storage, source: LogSource, content: FileContent): Promise<FileContent> {
  const { files, config, model, signal } = source;
  await storage.merge({ signal });
  await using version = storage.pin();
  await using log = await ChangeLog.read(files.changes, { signal });
  const after = versionOfFile(log.facts, content) ?? log.facts.baseVersion;
  await using changes = await log.fold({ after, upTo: log.facts.version }, undefined, { signal });
  const target = files.records + pending;
  const written = await changes.rewrite(files.records, content, target, { signal });
  if (written.records !== version.size) {
    const reason = `the merged file has ${written.records} records, and the storage ${version.size}`;
    throw LorekeepError.about('INTERNAL', { file: files.records, reason });
  }
  if (written.records === 0) {
    // A merge that was killed may have left indexes, which must not be put in place.
    for (const file of [files.indexPlace, files.textIndex]) {
      if (file !== undefined) await rm(file + pending, { force: true });
    }
    return written;
  }
  await using records = await Records.read(target, { fields: config.fields, signal });
  const [vectors, texts] = version.indexes();
  await using index = vectors;
  await using textIndex = texts;
  const owner = ownerOf(source);
  if (files.indexPlace !== undefined) {
    const fingerprint = indexFingerprint(records, model, config.long_text);
    const options = { fingerprint, records, owner, signal };
    const { m, ef_construction: efConstruction } = config.hnsw ?? {};
    await using graph = await graphOf(index, version, { m, efConstruction, signal });
    await graph.save(files.indexPlace + pending, options);
  }
  if (files.textIndex !== undefined) {
    await textIndex.save(files.textIndex + pending, { fingerprint: records.fingerprint, owner, signal });
  }
  return written;
}

/** Puts the files that are there in place. May be called again after it was interrupted. @throws IO */
async function putInPlace(source: LogSource, merged: FileContent): Promise<void> {
  const { indexPlace, textIndex, embeddings } = source.files;
  const without = isEmptied(merged) ? [indexPlace, textIndex, embeddings] : [];
  if (isEmptied(merged)) await (await KeptEmbeddings.of(source))?.keepAll();
  for (const file of without) if (file !== undefined) await rm(file, { force: true });
  for (const file of mergedFiles(source)) {
    if (!existsSync(file + pending)) continue;
    try {
      await moveOver(file + pending, file);
      await syncFolder(dirname(file));
    } catch (cause) {
      const reason = `cannot be replaced by the merged file: ${systemReason(cause)}`;
      throw LorekeepError.about('IO', { file, reason }, { cause });
    }
  }
}

/** Gives files that the merge makes for the first time the permissions of the records file: they have its texts. */
async function giveAccess(source: LogSource): Promise<void> {
  const { mode } = await stat(source.files.records);
  for (const file of mergedFiles(source)) {
    if (!existsSync(file + pending)) continue;
    const like = (await stat(file).catch(() => undefined))?.mode ?? mode;
    await chmod(file + pending, like & permissionBits);
  }
}

async function dropPending(source: LogSource): Promise<void> {
  for (const file of mergedFiles(source)) await rm(file + pending, { force: true }).catch(() => {});
}

/** Removes what killed merges have half-written: a base with the same records may have gone on since, and merge no more. */
async function dropHalfWritten(source: LogSource): Promise<void> {
  for (const file of mergedFiles(source)) await removeStrayFiles(file + pending).catch(() => 0);
}

/**
 * Completes an interrupted merge, or removes the files that it wrote. Does nothing if the base is opened for reading.
 * @throws IO, CORRUPT
 */
export async function settleLog(source: LogSource): Promise<void> {
  if (source.readOnly) return;
  await dropHalfWritten(source);
  if (!(hasPending(source) || (await hasMark(source)))) return;
  const lock = await lockOrWait(source);
  if (lock === undefined) return;
  try {
    await using log = await readLog(source);
    if (log?.facts.merge !== undefined) await completeMerge(source, log.facts);
    else await dropPending(source);
  } finally {
    await lock.release();
  }
}

const hasPending = (source: LogSource) => mergedFiles(source).some((file) => existsSync(file + pending));

async function hasMark(source: LogSource): Promise<boolean> {
  await using log = await readLog(source);
  return log?.facts.merge !== undefined;
}

async function completeMerge(source: LogSource, facts: ChangeLogFacts): Promise<void> {
  const { files, model, log } = source;
  const merged = facts.merge as FileContent & { version: number };
  const next = files.records + pending;
  const isThere = existsSync(next) && isSame(await identifyFile(next), merged);
  const now = await identifyFile(files.records);
  const isOurs = isSame(now, facts.records) || isSame(now, merged);
  if (!isOurs || (!isThere && !isSame(now, merged))) {
    await dropPending(source);
    return;
  }
  await putInPlace(source, merged);
  const writer = await ChangeLogWriter.continue(files.changes, facts);
  try {
    const behind = facts.frames.find(({ kind, version }) => kind === 'batch' && version > merged.version);
    await writer.restart(newHeader(model, merged, merged.version), behind?.begin ?? facts.end);
  } finally {
    await writer.close();
  }
  log.info({ file: files.records }, 'a merge that was interrupted is complete');
}
