import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import type { CrashKind, CrashThread } from '../boundary/native.js';

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
 * Returns a function that crashes the process on a thread, for tests of crash dumps. Only a crash of the calling thread happens
 * before it returns. The addon of the production edition does not contain the code.
 * @throws LorekeepError UNSUPPORTED for an addon that was compiled by the source package
 * @internal
 */
export function forcedCrash(kind: CrashKind, thread: CrashThread): () => void {
  const { forceCrash } = binding;
  if (forceCrash === undefined)
    throw new LorekeepError('UNSUPPORTED', 'this addon was compiled without forced crashes');
  return () => forceCrash(kind, thread);
}
