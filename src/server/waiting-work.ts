import type { ConnectionServices } from './services.js';

/** Work that waits, by queue. */
export function waitingWork({ workers, loop }: ConnectionServices): Record<string, number> {
  return { requests: loop.waiting, search: workers.search.waiting, build: workers.build.waiting };
}
