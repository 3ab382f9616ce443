// Changes a knowledge base again and again, taking the lock anew for each batch, until `count` batches are acknowledged. Sends
// {acknowledged: [[id, version], ...], refused} at the end. argv: config, model, name of this process, count
import { EmbeddingModel, LorekeepError } from '../../../dist/lib/index.js';
import { openKnowledgeBase } from '../../../dist/src/knowledge/index.js';

const [config, file, name, count] = process.argv.slice(2);
const model = await EmbeddingModel.load(file);
const models = async () => ({ model });
const acknowledged = [];
let refused = 0;

/** Another process holds the lock, or has merged or replaced what this one has open. */
const isContest = (error) =>
  error instanceof LorekeepError &&
  ((error.code === 'IO' && error.detail.holder !== undefined) || error.code === 'CORRUPT');

while (acknowledged.length < Number(count)) {
  const id = `${name}${acknowledged.length}`;
  const kb = await openKnowledgeBase(config, { models });
  try {
    const { version } = await kb.add([{ id, text: `honey of ${id}` }]);
    acknowledged.push([id, version]);
    if (acknowledged.length % 7 === 0) await kb.merge();
  } catch (error) {
    if (!isContest(error)) throw error;
    refused++;
  } finally {
    await kb.close();
  }
}
process.send({ acknowledged, refused }, () => process.exit(0));
