import { binding } from './binding.js';

/**
 * Returns the processor time that this thread has used, in ms. Only differences are meaningful.
 * @internal
 */
export const threadMs = (): number => binding.threadMs();
