import { lstat, rename, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryName } from './temporary-files.js';

/** Virus scanners and indexers hold a new file for a moment, seldom for longer than a second. */
const longestHoldMs = 5000;
const firstWaitMs = 5;
const longestWaitMs = 200;

/** What Windows reports for a file that is open, mapped or held. */
const inUse = ['EPERM', 'EACCES', 'EBUSY'];

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? '';

type Rename = (from: string, to: string) => Promise<void>;

interface System {
  isWindows: boolean;
  rename: Rename;
  longestHoldMs: number;
}

/**
 * Renames a file, replacing a file that is there. Windows refuses to replace a file that this or another process has open or
 * mapped, but renames it: it is moved aside there, and removed now or, if it is mapped, by removeStrays(). A process that is killed
 * between the two renames leaves nothing at `to`, and both files beside it. A file that another program holds is waited for.
 * `system`: for tests. @throws system errors
 */
export async function moveOver(
  from: string,
  to: string,
  system: System = { isWindows: process.platform === 'win32', rename, longestHoldMs },
): Promise<void> {
  if (!system.isWindows) return system.rename(from, to);
  const end = performance.now() + system.longestHoldMs;
  for (let wait = firstWaitMs; ; wait = Math.min(2 * wait, longestWaitMs)) {
    try {
      return await system.rename(from, to);
    } catch (error) {
      if (!inUse.includes(codeOf(error)) || !(await mayBeReplaced(to))) throw error;
      if (await moveAside(from, to, system.rename)) return;
      if (performance.now() >= end) throw error;
    }
    await delay(wait);
  }
}

/** A folder stays: no waiting helps. A file that is absent may be one that `from` is held for. */
async function mayBeReplaced(path: string): Promise<boolean> {
  const facts = await lstat(path).catch(() => undefined);
  return facts === undefined || facts.isFile();
}

/** Returns false, with everything in its old place, if a file is held. */
async function moveAside(from: string, to: string, move: Rename): Promise<boolean> {
  const aside = temporaryName(to);
  if (!(await isMoved(move(to, aside)))) return false;
  const done = await isMoved(move(from, to));
  if (!done) await move(aside, to);
  else await rm(aside, { force: true }).catch(() => {});
  return done;
}

const isMoved = (renaming: Promise<void>) =>
  renaming.then(
    () => true,
    () => false,
  );
