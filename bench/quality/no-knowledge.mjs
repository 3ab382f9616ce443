// How often `on_no_knowledge` decides right: questions of XQuAD (en) that a storage answers, and claims of SciFact, about
// subjects that it does not have. Storages of 10, 40 and all 240 paragraphs; the relevance is the generate node's. And
// in other words: queries of pairs.jsonl that share no word with the sentence that answers them, over all its sentences.
//
//   LOREKEEP_DATA=FOLDER node bench/quality/no-knowledge.mjs [--least 0.5] [--models lorekeep-mini,all-MiniLM-L6-v2]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bestRelevance } from '../../dist/src/agents/nodes/generate/relevance.js';
import { createStorage } from '../../dist/src/knowledge/index.js';
import { dataFolder, root } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { EmbeddingModel } from '../lorekeep.mjs';
import { collectionsPresent, readCollection } from './collections.mjs';

const { values: options } = commandLine({
  options: {
    least: { type: 'string', default: '0.5' },
    models: { type: 'string', default: 'lorekeep-mini,all-MiniLM-L6-v2' },
  },
});
const sizes = [10, 40, 240];
/** Storages of a size, and questions of either kind to each. */
const [maxStorages, questions] = [5, 40];
/** Fits the context of the models. */
const longestText = 1400;

if (!collectionsPresent()) {
  console.log(`bench/quality: left out, no collections under ${dataFolder}`);
  process.exit(0);
}
const { documents, queries, gains } = readCollection('xquad-en');
const pairs = readFileSync(join(import.meta.dirname, '../../test/helpers/pairs.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));
const absent = readCollection('scifact').queries.map(({ text }) => text);

console.log('| model | mode | records | answered questions refused | absent subjects answered |');
console.log('|---|---|--:|--:|--:|');
for (const name of options.models.split(',')) {
  const model = await EmbeddingModel.load(join(root, 'data', 'models', `${name}.gguf`));
  for (const mode of ['hybrid', 'dense', 'lexical']) {
    for (const size of sizes) {
      const { refused, answered } = await judge(model, mode, size);
      console.log(`| ${name} | ${mode} | ${size} | ${refused.toFixed(3)} | ${answered.toFixed(3)} |`);
    }
    const { refused, answered } = await judgeOtherWords(model, mode);
    console.log(`| ${name} | ${mode} | other words | ${refused.toFixed(3)} | ${answered.toFixed(3)} |`);
  }
  await model.close();
}

async function judge(model, mode, size) {
  const present = [];
  const missing = [];
  const count = Math.min(maxStorages, Math.floor(documents.length / size));
  for (let at = 0; at < count; at++) {
    const part = documents.slice(at * size, (at + 1) * size);
    const ids = new Set(part.map(({ id }) => id));
    const strings = part.map(({ text }) => text.slice(0, longestText));
    const storage = await createStorage({ strings, model, tokenizer: 'enhanced' });
    const own = queries.filter(({ id }) => [...gains.get(id).keys()].some((document) => ids.has(document)));
    for (const { text } of spread(own)) present.push(await relevance(storage, text, mode));
    for (const text of spread(absent)) missing.push(await relevance(storage, text, mode));
    await storage.close();
  }
  return shares(present, missing);
}

async function judgeOtherWords(model, mode) {
  const strings = [...new Set(pairs.map(({ text }) => text))];
  const storage = await createStorage({ strings, model, tokenizer: 'enhanced' });
  const present = [];
  const missing = [];
  for (const { kind, query } of pairs) {
    if (kind === 'synonym') present.push(await relevance(storage, query, mode));
  }
  for (const text of spread(absent)) missing.push(await relevance(storage, text, mode));
  await storage.close();
  return shares(present, missing);
}

function shares(present, missing) {
  const least = Number(options.least);
  const share = (values, fits) => values.filter(fits).length / values.length;
  return {
    refused: share(present, (one) => one < least),
    answered: share(missing, (one) => one >= least),
  };
}

async function relevance(storage, text, mode) {
  const { hits, cosineFloor } = await storage.search({ text, mode, topK: 3 });
  const knowledge = hits.map((hit) => ({ ...hit, node: 'kb' }));
  return bestRelevance(knowledge, new Map([['kb', { query: text, storage: storage.storage, cosineFloor }]]));
}

/** Evenly spaced members of a list. */
function spread(list) {
  const every = Math.max(1, Math.floor(list.length / questions));
  return list.filter((_, index) => index % every === 0).slice(0, questions);
}
