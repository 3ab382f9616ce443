import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readRegular, removeStrays, syncFolder, systemReason, temporaryFiles } from '../../../lib/basics.js';
import { LorekeepError } from '../../../lib/internal.js';
import { putBesideLog } from './log-file.js';

/** Records that are being forgotten: what a process needs that completes it. */
export interface PendingForget {
  /** Id of the change log that has the batch which removes them. */
  log: string;
  /** Version of that batch. */
  version: number;
  records: readonly { id: string; text: string }[];
}

/** The file is beside the change log, its owner's alone as that is, and exists only while records are forgotten. */
const pathOf = (changes: string): string => `${changes}.forgetting`;

const kind = 'lorekeep forgetting';
const maxBytes = 512 * 1024 * 1024;

export const hasPendingForget = (changes: string): boolean => existsSync(pathOf(changes));

/** Whether a process has begun a forgetting, or was killed while it wrote the intent. */
export async function hasForgetLeftovers(changes: string): Promise<boolean> {
  if (hasPendingForget(changes)) return true;
  const left = await temporaryFiles(pathOf(changes)).catch(() => []);
  return left.length > 0;
}

/** Removes intents that killed processes have not finished writing: they have the texts of records. The caller holds the lock. @throws IO */
export async function removeUnfinishedIntents(changes: string): Promise<void> {
  try {
    await removeStrays(pathOf(changes), { alone: true });
  } catch (cause) {
    const reason = `cannot be cleared of what a killed forgetting left: ${systemReason(cause)}`;
    throw LorekeepError.about('IO', { file: dirname(changes), reason }, { cause });
  }
}

/** Returns the forgetting that a process has begun and not ended. @throws IO, CORRUPT for a file of something else */
export async function readPendingForget(changes: string): Promise<PendingForget | undefined> {
  const file = pathOf(changes);
  if (!existsSync(file)) return undefined;
  const [first = '', ...lines] = (await readRegular(file, maxBytes)).split('\n');
  try {
    const { kind: found, log, version } = JSON.parse(first);
    if (found === kind)
      return { log, version, records: lines.filter((line) => line !== '').map((line) => JSON.parse(line)) };
  } catch {
    // Told below.
  }
  throw LorekeepError.about('CORRUPT', {
    file,
    reason: 'is not a list of records that are being forgotten',
    remedy: 'remove the file, and forget the records again',
  });
}

/** Makes the intent durable. @throws IO; INVALID_ARGUMENT for more than half a GiB of texts; CORRUPT as readPendingForget() */
export async function writePendingForget(changes: string, pending: PendingForget): Promise<void> {
  await readPendingForget(changes); // replaces no file that is not ours
  const { records, ...facts } = pending;
  const lines = [{ kind, ...facts }, ...records].map((line) => Buffer.from(`${JSON.stringify(line)}\n`));
  try {
    const bytes = lines.reduce((sum, { length }) => sum + length, 0);
    if (bytes > maxBytes) {
      const reason = `the records have more than ${maxBytes} bytes: forget fewer at once`;
      throw LorekeepError.about('INVALID_ARGUMENT', { field: 'ids', reason });
    }
    await putBesideLog(pathOf(changes), lines);
  } finally {
    for (const line of lines) line.fill(0);
  }
}

/** Says that the records are forgotten. @throws IO */
export async function endPendingForget(changes: string): Promise<void> {
  await rm(pathOf(changes), { force: true });
  await syncFolder(dirname(changes));
}
