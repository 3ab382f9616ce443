// Loaded into a server with --import: appends the size of its heap, in bytes, to the file that LOREKEEP_HEAP_SIZES names, ten times a second.
import { appendFileSync } from 'node:fs';

const intervalMs = 100;

setInterval(() => {
  const { heapUsed, external } = process.memoryUsage();
  appendFileSync(process.env.LOREKEEP_HEAP_SIZES, `${heapUsed + external}\n`);
}, intervalMs).unref();
