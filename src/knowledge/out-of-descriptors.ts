import { constants } from 'node:os';
import { AnyLorekeepError } from '../../lib/basics.js';

const names: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);
const { EMFILE, ENFILE } = constants.errno;
const numbers: ReadonlySet<unknown> = new Set([EMFILE, ENFILE]);

/** Whether an error means that the process or the machine has no file descriptor left, so that no file is at fault. */
export function isOutOfDescriptors(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (names.has((at as NodeJS.ErrnoException).code)) return true;
    if (at instanceof AnyLorekeepError && numbers.has(at.detail.errno)) return true;
  }
  return false;
}
