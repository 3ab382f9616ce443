import { integerArgument, maxThreads } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { translateError } from '../boundary/errors.js';

/**
 * Sets how many short calls (searches, query embeddings) run at once in this process; further ones wait. Default: the
 * number of processors that the process may use, at least 2. Loading, building and bulk embedding use other threads.
 * When the number is lowered, surplus threads end after their current calls.
 * @throws INVALID_ARGUMENT: not an integer from 1 to 1024; OUT_OF_MEMORY: the system refuses more threads.
 */
export function setSearchThreads(count: number): void {
  const threads = integerArgument('count', count, 1, 1, maxThreads);
  try {
    binding.setSearchThreads(threads);
  } catch (error) {
    throw translateError(error);
  }
}
