import { stringArgument } from './arguments.js';
import { binding } from './binding.js';
import { callNative } from './native-call.js';

/**
 * Removes the temporary files beside `path` that were left by writers of it that were killed, and never one whose writer
 * is alive. Every writer does so for its own file; this is for files that need no writing. Resolves to how many.
 */
export async function removeStrayFiles(path: string): Promise<number> {
  const file = stringArgument('path', path);
  return callNative(undefined, () => binding.removeStrays(file));
}
