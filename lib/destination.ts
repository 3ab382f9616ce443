import { stringArgument } from './arguments.js';
import { binding } from './binding.js';
import type { FileOwner } from './native.js';
import { callNative } from './native-call.js';

export type { FileOwner } from './native.js';

/** Files that lorekeep writes, named as inspectFile() names them. */
export type WrittenKind = 'index' | 'text index' | 'embeddings';

/**
 * Resolves when a file of that kind may be written at `path`: nothing is there, an empty file, or a file of lorekeep of that
 * kind that belongs to no other knowledge base than `owner`. Every writer checks this too, again at its rename.
 * @throws INVALID_ARGUMENT, IO when the file that is there cannot be read
 */
export async function checkDestination(
  path: string,
  kind: WrittenKind,
  owner?: FileOwner | undefined,
): Promise<void> {
  const file = stringArgument('path', path);
  return callNative(undefined, () => binding.checkDestination(file, kind, owner));
}
