import { integerArgument, mostThreads } from './arguments.js';
import { binding } from './binding.js';
import { translateError } from './errors.js';

/**
 * How many calls that take milliseconds (searches, the embedding of a query) run at once in this process; more of them wait.
 * Default: as many as the process may use processors, at least 2. Loading, building and bulk embedding have threads of
 * their own. Fewer threads than before end when their calls have.
 * @throws INVALID_ARGUMENT: not an integer from 1 to 1024; OUT_OF_MEMORY: the system gives no more threads.
 */
export function setSearchThreads(count: number): void {
  const threads = integerArgument('count', count, 1, 1, mostThreads);
  try {
    binding.setSearchThreads(threads);
  } catch (error) {
    throw translateError(error);
  }
}
