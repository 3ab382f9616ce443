import { binding } from '../boundary/binding.js';

/**
 * From now on a crash of the process writes a minidump to `path`, which does not exist yet, and then deletes the dump
 * `replaced`. A second call changes both. Returns why there can be no dumps; undefined if there can.
 * @internal
 */
export function installCrashHandler(path: string, replaced: string | undefined): string | undefined {
  return binding.installCrashHandler(path, replaced ?? '') || undefined;
}
