import { stringArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import type { FileOwner } from '../boundary/native.js';
import { callNative } from '../boundary/native-call.js';

export type { FileOwner } from '../boundary/native.js';

/** Kinds of files that lorekeep writes, named as in inspectFile(). */
export type WrittenKind = 'index' | 'text index' | 'embeddings';

/**
 * Checks that a file of this kind may be written at `path`: it must be absent, empty, or a lorekeep file of this kind that
 * belongs to no knowledge base other than `owner`. Every writer checks this again before it renames its file into place.
 * @throws INVALID_ARGUMENT; IO if the existing file cannot be read
 */
export async function checkDestination(
  path: string,
  kind: WrittenKind,
  owner?: FileOwner | undefined,
): Promise<void> {
  const file = stringArgument('path', path);
  return callNative(undefined, () => binding.checkDestination(file, kind, owner));
}

/**
 * Removes temporary files that killed writers left next to `path`, never one whose writer is alive. Resolves to their number.
 * Writers do this for the files that they write; this function is for other files.
 */
export async function removeStrayFiles(path: string): Promise<number> {
  const file = stringArgument('path', path);
  return callNative(undefined, () => binding.removeStrays(file));
}
