import { totalmem } from 'node:os';

const bytesPerMiB = 1024 * 1024;

/** A quarter of the memory that this process may use (a container's limit counts), in MiB. */
export function quarterOfMemory(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  // Without a limit, some systems report 0 and others a number beyond any machine.
  const usable = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.max(1, Math.floor(usable / 4 / bytesPerMiB));
}
