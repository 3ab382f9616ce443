import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  LorekeepError,
  processExists,
  readRegular,
  removeStrays,
  systemReason,
  temporaryName,
} from '../../../lib/basics.js';

/** A holder touches its lock this often; a lock that is older than `staleMs` has no living holder. */
const beatMs = 2000;
const staleMs = 20_000;
/** Time that a waiting process watches a lock: clocks jump when a machine wakes, and the holder needs time for its next touch. */
const watchMs = 3 * beatMs;
/** A holder that did not touch its lock for this time was stopped, and must check that the lock is still its own. */
const doubtMs = staleMs / 2;
const pollMs = 250;

const maxBytes = 256;
/** Empty: of a machine that lost power. */
const ownContent = /^(\d+ [\w-]+\n?)?$/;

/** The right to change a folder of downloads. */
export interface FolderLock {
  /** @throws IO if this process was stopped and another one took over. Costs nothing while the lock is touched in time. */
  check(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Waits until this process alone may change a folder of downloads, also among processes. A lock of a killed process is
 * taken over, and one of a process that gives no sign of life. @throws IO for a file of this name that is no lock of ours,
 * and where no lock can be written; the signal's reason
 */
export async function lockFolder(
  folder: string,
  signal: AbortSignal,
  onWait: () => void = () => {},
): Promise<FolderLock> {
  const path = join(folder, '.lock');
  const own = `${process.pid} ${randomUUID()}\n`;
  const watch = new Watch();
  let waited = false;
  while (!(await create(path, own))) {
    signal.throwIfAborted();
    if (await takeStale(path, watch)) continue;
    if (!waited) onWait();
    waited = true;
    await delay(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  await removeStrays(path).catch(() => {}); // they are only untidy
  return hold(path, own);
}

function hold(path: string, own: string): FolderLock {
  let touchedMs = performance.now();
  const isOwn = async () => (await content(path).catch(() => undefined)) === own;
  const touch = async () => {
    if (!(await isOwn())) return;
    const now = new Date();
    await utimes(path, now, now);
    touchedMs = performance.now();
  };
  const beat = setInterval(() => void touch().catch(() => {}), beatMs).unref();
  return {
    async check() {
      if (performance.now() - touchedMs < doubtMs || (await isOwn())) return;
      const reason =
        'this process was stopped, and another one took the folder over; start the download again';
      throw LorekeepError.about('IO', { file: path, reason });
    },
    async release() {
      clearInterval(beat);
      if (await isOwn()) await rm(path, { force: true });
    },
  };
}

/** How long a lock has been seen without a touch, by a clock that does not jump. */
class Watch {
  #seen = '';
  #sinceMs = 0;

  isOver(lock: string): boolean {
    if (lock !== this.#seen) {
      this.#seen = lock;
      this.#sinceMs = performance.now();
    }
    return performance.now() - this.#sinceMs >= watchMs;
  }
}

/** Returns false if the lock exists. */
async function create(path: string, own: string): Promise<boolean> {
  // Linked into place with its content, so that nobody reads an empty lock.
  const temporary = temporaryName(path);
  const file = await open(temporary, 'wx').catch((cause) => {
    throw cannotWrite(path, cause);
  });
  try {
    await file.writeFile(own);
    await file.close();
    await link(temporary, path);
    return true;
  } catch (error) {
    // ENOENT: a holder in another container, where this process has no number, took the file for a stray.
    if (['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw cannotWrite(path, error as Error);
  } finally {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
  }
}

const cannotWrite = (file: string, cause: Error) =>
  LorekeepError.about('IO', { file, reason: `cannot be written: ${systemReason(cause)}` }, { cause });

/** Removes the lock of a process that has ended. Returns whether the lock may be free now. */
async function takeStale(path: string, watch: Watch): Promise<boolean> {
  const seen = await content(path);
  if (seen === undefined) return true;
  if (!(await isStale(path, seen, watch))) return false;
  const aside = temporaryName(path);
  const moved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return true;
  // Another process may have taken the lock over since: give its lock back.
  if ((await content(aside).catch(() => undefined)) !== seen) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return true;
}

async function isStale(path: string, seen: string, watch: Watch): Promise<boolean> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) return true;
  const watched = watch.isOver(`${seen} ${facts.mtimeMs}`);
  if (watched && Date.now() - facts.mtimeMs > staleMs) return true;
  const pid = Number(seen.split(' ')[0]);
  return Number.isSafeInteger(pid) && pid > 0 && !processExists(pid);
}

/** Returns undefined if there is no lock. @throws IO for a file that is no lock of ours */
async function content(path: string): Promise<string | undefined> {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = await readRegular(path, maxBytes, constants.O_NOFOLLOW ?? 0);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined && ownContent.test(text)) return text;
  if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined;
  const reason = 'is not a lock of lorekeep, so it is left as it is; move it away';
  throw LorekeepError.about('IO', { file: path, reason: `${basename(path)} ${reason}` }, { cause });
}
