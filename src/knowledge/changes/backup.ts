import { copyFile, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join, parse } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stampAt, systemReason } from '../../../lib/basics.js';
import { type FileContent, identifyFile, LorekeepError } from '../../../lib/internal.js';
import { readJson } from '../../base/files/read-json.js';
import { largestConfigBytes } from '../../base/files/read-text.js';
import { isSame, type LogSource, readLog, versionOfFile } from './base-log.js';
import type { KnowledgeBaseBackup } from './public.js';

/** Copies that another process's merges may spoil before backup() gives up, and time between two in ms. */
const attempts = 5;
const againMs = 50;

/**
 * Copies the files of a knowledge base, with the part of its change log that is there now, to a new folder. The copy opens as it is.
 * `content`: the records file without a log. @throws INVALID_ARGUMENT for a folder that is not empty; IO, CANCELLED
 */
export async function backupFiles(
  source: LogSource,
  folder: string,
  content: () => FileContent,
): Promise<KnowledgeBaseBackup> {
  await emptyFolder(folder);
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const before = await stampsOf(source);
    const copied = await copyVersion(source, folder, content, attempt < attempts).catch(async (error) => {
      await empty(folder).catch(() => {});
      throw error;
    });
    if (copied !== undefined && before === (await stampsOf(source))) return copied;
    await empty(folder);
    await delay(againMs, undefined, { signal: source.signal });
  }
  throw LorekeepError.about('IO', {
    file: folder,
    reason: 'another process keeps merging the knowledge base',
  });
}

async function emptyFolder(folder: string): Promise<void> {
  let names: string[];
  try {
    await mkdir(folder, { recursive: true });
    names = await readdir(folder);
  } catch (cause) {
    const reason = `cannot be made or read: ${systemReason(cause)}`;
    throw LorekeepError.about('IO', { file: folder, reason }, { cause });
  }
  if (names.length === 0) return;
  const reason = 'is not empty, so nothing is copied there';
  throw LorekeepError.about('INVALID_ARGUMENT', { file: folder, reason });
}

/** Removes what was copied, so that another backup may use the folder. @throws system errors */
async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name));
}

/** Differs once one of the files that a merge replaces may have been replaced: they belong together. */
async function stampsOf({ files }: LogSource): Promise<string> {
  const { records, indexPlace, textIndex } = files;
  const stamps = await Promise.all([records, indexPlace, textIndex].map((file) => file && stampAt(file)));
  return JSON.stringify(stamps);
}

/** Returns undefined if the files changed meanwhile. `strict`: also if a merge puts files in place, or was killed while it did. */
async function copyVersion(
  source: LogSource,
  folder: string,
  content: () => FileContent,
  strict: boolean,
): Promise<KnowledgeBaseBackup | undefined> {
  const { files, signal } = source;
  await using log = await readLog(source);
  if (strict && log?.facts.merge !== undefined) return undefined;
  const config = join(folder, basename(source.path));
  const { name: stem } = parse(config);
  const records = join(folder, `${stem}.records.json`);
  const written = [records];
  const copy = async (from: string | undefined, name: string) => {
    if (from === undefined) return undefined;
    const to = join(folder, name);
    try {
      await copyFile(from, to);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT' && from !== files.records) return undefined;
      const reason = `cannot be copied: ${systemReason(cause)}`;
      throw LorekeepError.about('IO', { file: from, reason }, { cause });
    }
    if (to !== records) written.push(to);
    return name;
  };
  await copy(files.records, basename(records));
  const named = {
    records_file: basename(records),
    index_file: await copy(files.index, `${stem}.index`),
    bm25_file: await copy(files.textIndex, `${stem}.bm25`),
    embeddings_file: await copy(files.embeddings, `${stem}.embeddings`),
  };
  const found = await identifyFile(records, { signal });
  const isReplaced = log !== undefined && versionOfFile(log.facts, found) === undefined;
  if ((log === undefined || isReplaced) && !isSame(found, content())) return undefined;
  if (log !== undefined) {
    const changes = `${records}.changes`;
    await copyBeginning(files.changes, changes, log.facts.end);
    await using now = await readLog(source);
    if (now?.facts.id !== log.facts.id) return undefined;
    written.push(changes);
  }
  await writeConfig(source, config, named);
  const version = log === undefined ? 0 : log.facts.version + (isReplaced ? 1 : 0);
  return { config, version, files: [config, ...written] };
}

/** Names of files that the copy does not have stay out of its config, but the index is built again where it was. */
async function writeConfig(
  source: LogSource,
  to: string,
  named: Record<string, string | undefined>,
): Promise<void> {
  const { value } = await readJson(source.path, largestConfigBytes);
  const config: Record<string, unknown> = { ...(value as object) };
  for (const [field, name] of Object.entries(named)) {
    if (name !== undefined) config[field] = name;
    else if (config[field] !== undefined) config[field] = `${parse(to).name}.${field.split('_')[0]}`;
  }
  await writeFile(to, `${JSON.stringify(config, undefined, 2)}\n`, { flag: 'wx' });
}

const copyBytes = 4 * 1024 * 1024;

async function copyBeginning(from: string, to: string, bytes: number): Promise<void> {
  await using source = await open(from);
  await using target = await open(to, 'wx', 0o600);
  for (let at = 0; at < bytes; ) {
    const wanted = Math.min(copyBytes, bytes - at);
    const { buffer, bytesRead } = await source.read(Buffer.alloc(wanted), 0, wanted, at);
    if (bytesRead === 0) break;
    await target.write(buffer, 0, bytesRead, at);
    at += bytesRead;
  }
  await target.sync();
}
