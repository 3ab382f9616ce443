// argv: model path, number of vectors. Builds an index of these vectors and embeds 1,000 texts. Reports the longest time for which the event
// loop was held meanwhile, and the processor time of the whole process, in milliseconds. The build takes every processor,
// so a clock on the wall would measure the scheduler. Linux keeps the time that this thread itself ran in the first number
// of schedstat; elsewhere the clock has to do.
import { readFileSync } from 'node:fs';
import { EmbeddingModel, VectorIndex } from 'lorekeep';

const dimension = 384;
const tickMs = 1;

function ownMs() {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

/** Starts watching; the returned function stops and gives the measurements. */
function watch() {
  let longestMs = 0;
  let ticks = 0;
  let last = ownMs();
  const before = process.cpuUsage();
  const timer = setInterval(() => {
    const now = ownMs();
    longestMs = Math.max(longestMs, now - last);
    ticks++;
    last = now;
  }, tickMs);
  return () => {
    clearInterval(timer);
    const { user, system } = process.cpuUsage(before);
    return { longestMs, ticks, processorMs: (user + system) / 1000 };
  };
}

let state = 1;
const vectors = new Float32Array(Number(process.argv[3]) * dimension);
for (let i = 0; i < vectors.length; i++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  vectors[i] = state / 2 ** 32 - 0.5;
}
const texts = Array.from({ length: 1000 }, (_, i) =>
  `text ${i} about the sea, the ship and the storm `.repeat(8),
);
const model = await EmbeddingModel.load(process.argv[2]);

const stop = watch();
const [index, rows] = await Promise.all([VectorIndex.build(vectors, dimension), model.embed(texts)]);
const held = stop();
process.send({ ...held, indexed: index.size, embedded: rows.length / model.dimension });
await index.close();
process.disconnect();
