import { type ErrorCode, LorekeepError } from '../../lib/internal.js';
import { isOutOfDescriptors } from './out-of-descriptors.js';

const notTheFiles: ReadonlySet<ErrorCode> = new Set(['CANCELLED', 'CLOSED', 'OUT_OF_MEMORY', 'INTERNAL']);

/** Whether an error is about a file that was changed in place, or replaced, while it was in use. */
export function isChanged(error: unknown): boolean {
  return error instanceof LorekeepError && error.code === 'CORRUPT' && error.detail.reason === 'changed';
}

/** Whether an error concerns a knowledge base's files, not the caller, the machine or lorekeep itself. */
export function isFileError(error: unknown): error is LorekeepError {
  return error instanceof LorekeepError && !notTheFiles.has(error.code) && !isOutOfDescriptors(error);
}
