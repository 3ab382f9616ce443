import { existsSync } from 'node:fs';
import { lstat, rm, stat, writeFile } from 'node:fs/promises';
import { systemReason } from '../../../lib/basics.js';
import { BackgroundMerges, type ChangeLog, type LoggedWords, LorekeepError } from '../../../lib/internal.js';
import { type LogSource, readLog } from './base-log.js';
import { wordsOf } from './log-file.js';
import { stepsOf } from './steps.js';

/** Bytes of a log behind its saved words, at least and as a share of those that have them, from which they are saved again. */
const leastBytes = 4 * 1024 * 1024;
const grownShare = 0.25;

const isGrown = (bytes: number, saved: number): boolean =>
  bytes - saved > Math.max(leastBytes, saved * grownShare);

/** Returns the saved words of a log; undefined if there are none that belong to it. @throws CANCELLED, OUT_OF_MEMORY */
export async function loadWords(
  log: ChangeLog,
  { files, config, signal, log: report }: LogSource,
): Promise<LoggedWords | undefined> {
  const file = wordsOf(files.changes);
  if (!existsSync(file)) return undefined;
  try {
    return await log.loadWords(file, config.bm25_tokenizer, { signal });
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code === 'CANCELLED' || error.code === 'OUT_OF_MEMORY')
      throw error;
    const reason = error.detail.reason ?? error.message;
    report.info({ file, reason }, 'the words of the change log are read from its texts');
    return undefined;
  }
}

const permissionBits = 0o777;

/**
 * Puts an empty file with the permissions of another one in the place of none, or of one with other permissions or of another user: what
 * replaces a file keeps them. @throws system errors
 */
async function makeAsClosed(file: string, other: string): Promise<void> {
  const like = await stat(other);
  const found = await lstat(file).catch(() => undefined);
  const isSame = (['uid', 'gid', 'mode'] as const).every((name) => found?.[name] === like[name]);
  if (isSame || found?.isFile() === false) return;
  await rm(file, { force: true });
  await writeFile(file, '', { flag: 'wx', mode: like.mode & permissionBits });
}

/**
 * Saves the words of a change log beside it, in the background, each time the log has grown by a quarter: what takes most of the time of
 * opening a base after a crash. The caller holds the lock of the log while it is not paused.
 */
export class WordsSaver {
  readonly #source: () => LogSource;
  readonly #background = new BackgroundMerges(
    () => isGrown(this.#log.size, this.#saved.id === this.#log.id ? this.#saved.bytes : 0),
    (signal) => this.#save(signal),
  );
  #log: { id: string; size: number } = { id: '', size: 0 };
  /** The log of the words that were saved last, and how much of it they have. */
  #saved: { id: string; bytes: number } = { id: '', bytes: 0 };

  constructor(source: () => LogSource) {
    this.#source = source;
  }

  /** Begins to save the words of the log if it has grown enough. */
  follow({ id, size }: { id: string; size: number }): void {
    this.#log = { id, size };
    this.#background.resume();
  }

  /** Resolves when the saving that has begun is done. */
  done(): Promise<void> {
    return this.#background.done();
  }

  /** Stops until the next follow(). Resolves once nothing is written. */
  async pause(): Promise<void> {
    await this.#background.pause();
  }

  async #save(signal: AbortSignal): Promise<boolean> {
    const source = { ...this.#source(), signal };
    const { files, config, versions, log: report } = source;
    await using log = await readLog(source);
    if (log === undefined) return false;
    const { id, end, frames, baseVersion: after } = log.facts;
    const known = this.#saved.id === id ? undefined : await loadWords(log, source);
    const bytes = frames.find(({ version }) => version === known?.version)?.end ?? 0;
    const isNew = isGrown(end, bytes);
    const { together } = stepsOf(log.facts, after, versions);
    const last = isNew ? together.at(-1) : undefined;
    const file = wordsOf(files.changes);
    try {
      if (last !== undefined) {
        await using changes = await log.fold({ after, upTo: last.version }, undefined, { signal });
        await makeAsClosed(file, files.changes);
        await changes.saveWords(log, config.bm25_tokenizer, file, { signal });
      }
    } catch (err) {
      if (signal.aborted) throw err;
      report.warn({ err, file }, `not written (${systemReason(err)}): the next opening takes longer`);
    }
    // What stays behind are batches whose versions the base keeps: tried again when the log has grown, as what failed.
    this.#saved = { id, bytes: isNew ? end : bytes };
    return false;
  }
}
