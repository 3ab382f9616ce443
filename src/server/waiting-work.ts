import type { ConnectionServices, SessionServices } from './services.js';

/** Work that waits, by queue. */
export function waitingWork({
  searchThreads,
  builders,
  loop,
}: ConnectionServices & SessionServices): Record<string, number> {
  return { requests: loop.waiting, search: searchThreads.waiting, build: builders.waiting };
}
