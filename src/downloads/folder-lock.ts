import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LorekeepError } from '../../lib/errors.js';
import { readRegular } from '../../lib/regular-file.js';

/** A holder touches its lock this often; a lock that is older than `staleMs` has no living holder. */
const beatMs = 2000;
const staleMs = 20_000;
const pollMs = 250;

const mostBytes = 256;
/** Empty: of a machine that lost power. */
const ownContent = /^(\d+ [\w-]+\n?)?$/;

/**
 * Waits until this process alone may change a folder of downloads, also among processes; the result releases it. A lock of
 * a killed process is taken over. @throws IO for a file of this name that is no lock of ours; the signal's reason
 */
export async function lockFolder(
  folder: string,
  signal: AbortSignal,
  onWait: () => void = () => {},
): Promise<() => Promise<void>> {
  const path = join(folder, '.lock');
  const own = `${process.pid} ${randomUUID()}\n`;
  let waited = false;
  while (!(await create(path, own))) {
    signal.throwIfAborted();
    if (await takeStale(path)) continue;
    if (!waited) onWait();
    waited = true;
    await delay(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, beatMs).unref();
  return async () => {
    clearInterval(beat);
    if ((await content(path).catch(() => undefined)) === own) await rm(path, { force: true });
  };
}

/** Returns false if the lock exists. */
async function create(path: string, own: string): Promise<boolean> {
  // Linked into place with its content, so that nobody reads an empty lock.
  const temporary = `${path}-${randomUUID()}`;
  const file = await open(temporary, 'wx');
  try {
    await file.writeFile(own);
    await file.close();
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
  }
}

/** Removes the lock of a process that has ended. Returns whether the lock may be free now. */
async function takeStale(path: string): Promise<boolean> {
  const seen = await content(path);
  if (seen === undefined) return true;
  if (!(await isStale(path, seen))) return false;
  const aside = `${path}-${randomUUID()}`;
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

async function isStale(path: string, seen: string): Promise<boolean> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) return true;
  if (Date.now() - facts.mtimeMs > staleMs) return true;
  const pid = Number(seen.split(' ')[0]);
  return Number.isSafeInteger(pid) && pid > 0 && !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns undefined if there is no lock. @throws IO for a file that is no lock of ours */
async function content(path: string): Promise<string | undefined> {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = await readRegular(path, mostBytes, constants.O_NOFOLLOW ?? 0);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined && ownContent.test(text)) return text;
  if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined;
  const reason = 'is not a lock of lorekeep, so it is left as it is; move it away';
  throw LorekeepError.about('IO', { file: path, reason: `${basename(path)} ${reason}` }, { cause });
}
