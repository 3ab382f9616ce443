import { binding } from './binding.js';
import type { CrashKind, CrashThread } from './native.js';

export type { CrashKind, CrashThread };

/**
 * From now on a crash of the process writes a minidump to `path`, which does not exist yet, and then deletes the dump
 * `replaced`. A second call changes both. Returns why there can be no dumps; undefined if there can.
 * @internal
 */
export function installCrashHandler(path: string, replaced: string | undefined): string | undefined {
  return binding.installCrashHandler(path, replaced ?? '') || undefined;
}

/**
 * Crashes the process on a thread, for tests of crash dumps. Only a crash of the calling thread happens before it returns.
 * @internal
 */
export function forceCrash(kind: CrashKind, thread: CrashThread): void {
  binding.forceCrash(kind, thread);
}
