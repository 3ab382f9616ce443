// Loaded into the server of a soak (node --expose-gc --import): on SIGUSR2 collects garbage and gives free memory back, so
// that what is left is what the server holds. Without that its memory swings by tens of MiB over thousands of requests.
import { setTimeout as delay } from 'node:timers/promises';
import { releaseFreeMemory } from '../../../dist/lib/internal.js';

/** Time in ms for the thread that gives memory back. */
const releaseMs = 100;

let collections = 0;

process.on('SIGUSR2', async () => {
  globalThis.gc();
  releaseFreeMemory();
  await delay(releaseMs);
  process.stdout.write(`collected ${++collections}\n`);
});
