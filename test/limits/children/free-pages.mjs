// Needs --expose-gc. Fills the heap of the C library, frees everything but small pieces in between, and releases free memory in steps.
// releaseFreeMemory(), which works on another thread, is not called. Reports resident memory in MiB, and the number of steps.
import { binding } from '../../../dist/lib/boundary/binding.js';

const resident = () => process.memoryUsage().rss / 2 ** 20;
const before = resident();
const kept = [];
let pieces = [];
for (let i = 0; i < 4000; i++) {
  pieces.push(Buffer.alloc(64 * 1024, 1));
  kept.push(Buffer.allocUnsafeSlow(64));
}
const full = resident();
pieces = [];
const patience = performance.now() + 30_000;
let steps = 0;
let after = full;
// V8 frees buffers on another thread, after a collection.
while (after > before + (full - before) / 4 && performance.now() < patience) {
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 100));
  while (binding.releaseFreePages()) steps++;
  after = resident();
}
process.send({ before, full, after, steps, kept: kept.length });
