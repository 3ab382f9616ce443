import { binding } from './binding.js';
import { LorekeepError } from './errors.js';
import type { CrashKind, CrashThread } from './native.js';

export type { CrashKind, CrashThread };

/**
 * Crashes the process on a thread, for tests of crash dumps. Only a crash of the calling thread happens before it returns.
 * The production edition has neither this file nor the function of the addon, and no addon of the source package has it.
 * @throws LorekeepError UNSUPPORTED
 * @internal
 */
export function forceCrash(kind: CrashKind, thread: CrashThread): void {
  if (binding.forceCrash === undefined)
    throw new LorekeepError('UNSUPPORTED', 'this addon was compiled without forced crashes');
  binding.forceCrash(kind, thread);
}
