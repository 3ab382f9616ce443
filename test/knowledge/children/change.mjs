// Adds batches of three records, some merged, until it is killed. argv: config, model, number of this process
import { EmbeddingModel } from '../../../dist/lib/index.js';
import { openKnowledgeBase } from '../../../dist/src/knowledge/index.js';

const [config, file, own] = process.argv.slice(2);
const model = await EmbeddingModel.load(file);
const kb = await openKnowledgeBase(config, { models: async () => ({ model }) });
process.send('open');
for (let n = 0; ; n++) {
  const records = [0, 1, 2].map((part) => ({
    id: `k${own}.${n}/${part}`,
    text: `honey number ${n} part ${part}`,
  }));
  await kb.add(records);
  process.send(records.map(({ id }) => id));
  if (n % 5 === 4) await kb.merge();
}
