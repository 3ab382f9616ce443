import type { Services } from './services.js';

/** Work that waits, by queue. */
export function waitingWork({ searchThreads, builders, loop }: Services): Record<string, number> {
  return { requests: loop.waiting, search: searchThreads.waiting, build: builders.waiting };
}
