// The knowledge base that the server benchmarks share: records of corpus-large where LOREKEEP_DATA has it, else made-up texts,
// embedded by lorekeep-mini. Built once into .cache/bench/server.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cached, root } from '../harness/cache.mjs';
import { readTexts } from '../harness/texts.mjs';
import { buildKnowledgeBase, EmbeddingModel, openKnowledgeBase } from '../lorekeep.mjs';

export const modelName = 'lorekeep-mini';
/** Characters of a record: a few sentences, as a chunk of a game's lore or of a manual has. */
const recordLength = 400;

export const loadModel = () => EmbeddingModel.load(join(root, 'data', 'models', `${modelName}.gguf`));

/** Folder with kb.json of `count` records, and questions to ask it. */
export async function knowledgeBase(count) {
  const folder = cached('server', String(count));
  mkdirSync(folder, { recursive: true });
  const texts = (await readTexts(count)).texts.map((text) => text.slice(0, recordLength));
  const config = join(folder, 'kb.json');
  const model = await loadModel();
  const models = async () => ({ model });
  if (!(await opens(config, models))) {
    const records = texts.map((text, index) => ({ id: `r${index}`, text, metadata: { part: index % 10 } }));
    writeFileSync(join(folder, 'records.json'), JSON.stringify(records));
    const fields = [{ name: 'part', type: 'int', optional: true }];
    const settings = {
      embedding_model: modelName,
      records_file: 'records.json',
      index_file: 'kb.index',
      fields,
    };
    writeFileSync(config, JSON.stringify(settings));
    await buildKnowledgeBase(config, { models });
  }
  await model.close();
  return { folder, config, questions: questionsOf(texts) };
}

/** Whether an earlier run left what this version and this model can use. */
async function opens(config, models) {
  try {
    await (await openKnowledgeBase(config, { models })).close();
    return true;
  } catch {
    return false;
  }
}

/** Five words from the middle of every 97th record: queries that match something. */
function questionsOf(texts) {
  const questions = texts
    .filter((_, index) => index % 97 === 0)
    .map((text) => text.split(' ').slice(8, 13).join(' '));
  return questions.filter((question) => question.trim() !== '');
}
