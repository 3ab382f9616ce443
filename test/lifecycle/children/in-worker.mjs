// argv: folder, model path. Runs every step in a worker thread, terminates another worker in the middle of each step,
// and does so while the main thread works with the addon too.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { steps } from './workload.mjs';

const names = Object.keys(steps);

if (isMainThread) {
  const [folder, modelPath] = process.argv.slice(2);
  const state = { folder, modelPath };
  for (const name of names) await steps[name](state);
  for (let count = 0; count <= names.length; count++) {
    const worker = new Worker(new URL(import.meta.url), { workerData: { folder, modelPath, count } });
    const failed = once(worker, 'error').then(([error]) => {
      throw error;
    });
    const busy = Promise.all([steps['vector search'](state), steps.embed(state)]);
    await Promise.race([once(worker, 'message'), failed]);
    failed.catch(() => {});
    await worker.terminate();
    await busy;
    process.send?.(count);
  }
  await steps['storage search'](state);
  process.disconnect?.();
} else {
  const state = { ...workerData };
  for (const name of names.slice(0, workerData.count)) await steps[name](state);
  const next = names[workerData.count];
  // Three at once, so that some wait in a queue when the end comes.
  if (next !== undefined) for (let i = 0; i < 3; i++) steps[next](state).catch(() => {});
  parentPort.postMessage('running');
}
