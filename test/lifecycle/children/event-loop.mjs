// argv: model path. Builds an index of 50,000 vectors and embeds 1,000 texts, and reports the longest time for which
// the event loop was held meanwhile, in milliseconds. Time that the thread spent waiting for a processor (the build uses
// all of them) is not the program's: Linux counts it per thread, in the second number of schedstat.
import { readFileSync } from 'node:fs';
import { EmbeddingModel, VectorIndex } from 'lorekeep';

const dimension = 384;
const tickMs = 1;

function waitedMs() {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Starts watching; the returned function stops and gives the longest hold. */
function watch() {
  let longest = 0;
  let ticks = 0;
  let last = performance.now();
  let lastWaited = waitedMs();
  const timer = setInterval(() => {
    const now = performance.now();
    const waited = waitedMs();
    longest = Math.max(longest, now - last - (waited - lastWaited) - tickMs);
    ticks++;
    last = performance.now();
    lastWaited = waitedMs();
  }, tickMs);
  return () => {
    clearInterval(timer);
    return { longest, ticks };
  };
}

let state = 1;
const vectors = new Float32Array(50_000 * dimension);
for (let i = 0; i < vectors.length; i++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  vectors[i] = state / 2 ** 32 - 0.5;
}
const texts = Array.from({ length: 1000 }, (_, i) => `text ${i} about the sea, the ship and the storm `.repeat(8));
const model = await EmbeddingModel.load(process.argv[2]);

const stop = watch();
const [index, rows] = await Promise.all([VectorIndex.build(vectors, dimension), model.embed(texts)]);
const held = stop();
process.send({ ...held, indexed: index.size, embedded: rows.length / model.dimension });
await index.close();
process.disconnect();
