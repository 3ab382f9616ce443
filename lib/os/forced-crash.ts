import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import type { CrashKind, CrashThread } from '../boundary/native.js';

/**
 * Returns a function that crashes the process on a thread, for tests of crash dumps. Only a crash of the calling thread happens
 * before it returns. The production edition has neither this file nor the function of the addon.
 * @throws LorekeepError UNSUPPORTED for an addon that was compiled by the source package
 * @internal
 */
export function forcedCrash(kind: CrashKind, thread: CrashThread): () => void {
  const { forceCrash } = binding;
  if (forceCrash === undefined)
    throw new LorekeepError('UNSUPPORTED', 'this addon was compiled without forced crashes');
  return () => forceCrash(kind, thread);
}
