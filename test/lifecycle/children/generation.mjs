// node generation.mjs MODEL HOW: starts replies of a language model, and ends in the middle of them.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { LanguageModel } from '../../../dist/lib/index.js';

const [path, how] = isMainThread ? process.argv.slice(2) : [workerData, 'worker'];
const options = { threads: 1, batchThreads: 1, kvCells: 4096 };
const endless = { maxTokens: 400, logitBias: { 2: Number.NEGATIVE_INFINITY } };

async function begun(model, count = 3) {
  const replies = Array.from({ length: count }, (_, i) =>
    model.generate({
      ...endless,
      prompt: Int32Array.from({ length: 60 }, (_, k) => 3 + ((k * (i + 2)) % 250)),
    }),
  );
  for (const reply of replies) await reply[Symbol.asyncIterator]().next();
  return replies;
}

/** What a program may do while replies are under way. */
const ends = {
  async exit(model) {
    await begun(model);
    process.exit();
  },
  async 'exit while closing'(model) {
    await begun(model);
    void model.close();
    process.exit();
  },
  async 'exit during a load'() {
    void LanguageModel.load(path);
    process.exit();
  },
  async throw(model) {
    await begun(model);
    process.once('uncaughtException', () => process.exit());
    throw new Error('of the program');
  },
  async close(model) {
    const replies = await begun(model);
    const closing = model.close();
    for (const { finish } of await Promise.all(replies.map(({ result }) => result)))
      if (finish !== 'length' && finish !== 'context') throw new Error(finish);
    await closing;
  },
  async cancel(model) {
    const replies = await begun(model);
    for (const reply of replies) reply.cancel();
    for (const { finish } of await Promise.all(replies.map(({ result }) => result)))
      if (finish !== 'cancelled' && finish !== 'length') throw new Error(finish);
  },
  async 'run to the end'(model) {
    await begun(model);
  },
  async 'forget the model'(model) {
    void (await begun(model, 1));
    globalThis.gc?.();
  },
  async 'exit with questions'(model) {
    await begun(model);
    for (let i = 0; i < 100; i++) void (i % 2 === 0 ? model.numbers() : model.prefixes());
    process.exit();
  },
  async 'close with questions'(model) {
    await begun(model);
    const asked = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? model.numbers() : model.prefixes()));
    const closing = model.close();
    await Promise.all(asked);
    await closing;
  },
  async prefix(model) {
    void model.prefix(Int32Array.from({ length: 300 }, (_, k) => 3 + (k % 200)));
    process.exit();
  },
};

if (how === 'worker') {
  const model = await LanguageModel.load(path, options);
  await begun(model);
  const ask = () => Promise.all([model.numbers(), model.prefixes()]).then(ask, () => {});
  void ask();
  parentPort.postMessage('begun');
} else if (how === 'workers') {
  for (let round = 0; round < 4; round++) {
    const workers = [0, 1].map(() => new Worker(new URL(import.meta.url), { workerData: path }));
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  const model = await LanguageModel.load(path, options);
  await begun(model);
} else {
  await ends[how](await LanguageModel.load(path, options));
}
