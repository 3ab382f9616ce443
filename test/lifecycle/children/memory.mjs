// argv: mode ("cycles" or "collect"), folder, model path, MiB by which memory may grow. Needs --expose-gc. Reports resident memory in MiB.
import { EmbeddingModel, VectorIndex } from 'lorekeep';
import { releaseFreeMemory } from '../../../dist/lib/internal.js';
import { dimension, rows } from './workload.mjs';

const [mode, folder, modelPath, slackMiB] = process.argv.slice(2);
const resident = () => process.memoryUsage().rss / 2 ** 20;
const settle = async () => {
  for (let i = 0; i < 4; i++) {
    globalThis.gc();
    await new Promise(setImmediate);
  }
};

/** Memory of closed objects is freed on another thread, which a busy machine may hold up, and goes back to the system after that. */
const patienceMs = 30_000;
const residentAtLast = async (wanted) => {
  const end = performance.now() + patienceMs;
  for (;;) {
    await releaseFreeMemory();
    await settle();
    const now = resident();
    if (now <= wanted || performance.now() > end) return now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

if (mode === 'cycles') {
  const path = `${folder}/cycles.lkvec`;
  const built = await VectorIndex.build(rows(4000), dimension);
  await built.save(path);
  await built.close();
  const cycle = async () => {
    const index = await VectorIndex.load(path);
    const model = await EmbeddingModel.load(modelPath);
    await model.embed(['one text', 'and another']);
    await index.search(rows(1));
    await Promise.all([index.close(), model.close()]);
  };
  for (let i = 0; i < 50; i++) await cycle(); // allocators and caches reach their working size
  await settle();
  const before = resident();
  for (let i = 0; i < 200; i++) await cycle();
  process.send({ before, after: await residentAtLast(before + Number(slackMiB)) });
} else {
  // Nothing is closed: the collector alone gives 100 x 8 MB back.
  const numbers = rows(32_768);
  for (let i = 0; i < 10; i++) await VectorIndex.build(numbers, dimension, { kind: 'flat' });
  await settle();
  const before = resident();
  for (let i = 0; i < 100; i++) await VectorIndex.build(numbers, dimension, { kind: 'flat' });
  process.send({ before, after: await residentAtLast(before + Number(slackMiB)) });
}
process.disconnect();
