// The knowledge base that the server benchmarks share: records of corpus-large where LOREKEEP_DATA has it, else made-up texts,
// embedded by lorekeep-mini. Built once into .cache/bench/server.
import { createReadStream, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { buildKnowledgeBase, EmbeddingModel, openKnowledgeBase } from '../lorekeep.mjs';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const modelName = 'lorekeep-mini';
const data = resolve(process.env.LOREKEEP_DATA ?? join(root, '..', 'shared', 'data'));
const corpus = join(data, 'corpus-large.jsonl.gz');
/** Characters of a record: a few sentences, as a chunk of a game's lore or of a manual has. */
const recordLength = 400;

export const loadModel = () => EmbeddingModel.load(join(root, 'data', 'models', `${modelName}.gguf`));

/** Folder with kb.json of `count` records, and questions to ask it. */
export async function knowledgeBase(count) {
  const folder = join(root, '.cache', 'bench', 'server', String(count));
  mkdirSync(folder, { recursive: true });
  const texts = existsSync(corpus) ? await corpusTexts(count) : generatedTexts(count);
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

async function corpusTexts(count) {
  const texts = [];
  const lines = createInterface({ input: createReadStream(corpus).pipe(createGunzip()) });
  for await (const line of lines) {
    texts.push(JSON.parse(line).text.slice(0, recordLength));
    if (texts.length === count) break;
  }
  lines.close();
  while (texts.length < count) texts.push(`${texts[texts.length % 1000]} ${texts.length}`);
  return texts;
}

function generatedTexts(count, seed = 1) {
  console.log(`no corpus: texts are made up, seed ${seed}`);
  let state = seed;
  const next = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const word = () => `w${Math.floor(20_000 * (next(1000) / 1000) ** 3)}`;
  return Array.from({ length: count }, () => Array.from({ length: 60 }, word).join(' '));
}
