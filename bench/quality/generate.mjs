// How often replies of a language model contain the answer: questions of XQuAD (en) over the paragraphs that lexical search
// finds, by prompt. "default" is the prompt of a generate node without templates; the others are prompts that users of
// llama-server write. All are generated greedily by the same engine, whose text equals llama-server's up to rounding; --server
// starts that program and takes the others from it: chat completions, so that it applies the model's own template.
//
//   LOREKEEP_MODELS=FOLDER node bench/quality/generate.mjs [--model FILE] [--questions 200] [--split test|tuning]
//     [--only default,plain] [--server llama-server [--server-flags='-t 2']] [--top-k 3] [--keep FILE] [--prompts MODULE] [--json]
//
// Questions about every other article are of the split "tuning", on which the default prompt was chosen; the others are "test".
// --keep: replies are kept in this file, and its replies are not generated again, so that an interrupted run continues.
// --prompts: the default export of this module has more prompts by name: messages from paragraphs, best first, and a question.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Interaction } from '../../dist/src/agents/interaction.js';
import { PromptBuilder } from '../../dist/src/agents/nodes/generate/prompt.js';
import { schema } from '../../dist/src/agents/nodes/generate/schema.js';
import { dataFolder, root } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { headers as closing, startLlamaServer } from '../harness/llama-server.mjs';
import { LanguageModel, TextIndex } from '../lorekeep.mjs';
import { collectionsPresent, readCollection } from './collections.mjs';
import { interval } from './confidence.mjs';
import { mean } from './measures.mjs';

const { values: options } = commandLine({
  options: {
    model: { type: 'string' },
    questions: { type: 'string', default: '200' },
    split: { type: 'string', default: 'test' },
    only: { type: 'string' },
    server: { type: 'string' },
    'top-k': { type: 'string', default: '3' },
    keep: { type: 'string' },
    prompts: { type: 'string' },
    'server-flags': { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const models = resolve(process.env.LOREKEEP_MODELS ?? join(root, '..', 'shared', 'models'));
const file = options.model ?? join(models, 'SmolLM2-135M-Instruct.Q4_1.gguf');
const maxTokens = 64;
const atOnce = 3;

/** Prompts by name: messages from paragraphs and a question. */
const prompts = {
  default: defaultPrompt(),
  plain: (records, question) => [user(`${records.join('\n\n')}\n\n${question}`)],
  context: (records, question) => [
    user(`Context:\n${records.join('\n\n')}\n\nQuestion: ${question}\nAnswer:`),
  ],
  system: (records, question) => [
    {
      role: 'system',
      content: `You are a helpful assistant. Answer the question using the context.\n\nContext:\n${records.join('\n\n')}`,
    },
    user(question),
  ],
  pieces: (records, question) => [
    user(
      `Use the following pieces of context to answer the question at the end.\n\n${records.join('\n\n')}\n\nQuestion: ${question}\nHelpful Answer:`,
    ),
  ],
};

if (options.prompts) Object.assign(prompts, (await import(resolve(options.prompts))).default);

if (!collectionsPresent() || !existsSync(file)) {
  console.log(`bench/quality: left out, no collections under ${dataFolder} or no ${file}`);
  process.exit(0);
}
const { documents, queries, gains } = readCollection('xquad-en');
const answers = answersById();
const articles = articlesByDocument();
const ofArticle = ({ id }) => articles.get([...gains.get(id).keys()][0]);
const asked = queries
  .filter((query) => (ofArticle(query) % 2 === 0) === (options.split === 'tuning'))
  .filter((_, index, all) => index % Math.max(1, Math.floor(all.length / Number(options.questions))) === 0)
  .slice(0, Number(options.questions));
const texts = documents.map(({ text }) => text);
const index = await TextIndex.build(texts, { tokenizer: 'enhanced' });
const found = await Promise.all(
  asked.map(async ({ text }) => {
    const { ordinals } = await index.search(text, { k: Number(options['top-k']) });
    return [...ordinals].map((ordinal) => texts[ordinal]);
  }),
);
const model = await LanguageModel.load(file, { contextSize: 4096, kvCells: atOnce * 4096 });
// So that llama-server ends, too.
process.once('SIGTERM', () => process.exit(143));
const flags = ['-np', atOnce, '-c', atOnce * 4096, ...options['server-flags'].split(' ').filter(Boolean)];
const server = options.server && (await startLlamaServer(options.server, file, flags));
const kept = keptReplies();
const rows = [];
let hitsOfDefault;
for (const [name, prompt] of Object.entries(prompts)) {
  if (options.only !== undefined && !options.only.split(',').includes(name)) continue;
  rows.push(await measure(name, prompt));
}
await model.close();
await index.close();
const held = share(asked.map((query, at) => holds(found[at].join(' '), query)));
if (options.json) console.log(JSON.stringify({ questions: asked.length, inParagraphs: held, rows }));
else report();
process.exit(0);

function report() {
  console.log(
    `${asked.length} questions (${options.split}), ${options['top-k']} paragraphs each, which have the answer for ${held.toFixed(3)}${server ? '; other prompts by llama-server' : ''}`,
  );
  console.log(
    '| prompt | contains the answer | 95 % interval | default minus it | 95 % interval | tokens of a reply |',
  );
  console.log('|---|---|---|---|---|---|');
  for (const { name, contains, range, minus, tokens } of rows) {
    const difference = minus === undefined ? '| | |' : `| ${minus.mean.toFixed(3)} | ${shown(minus.range)} |`;
    console.log(`| ${name} | ${contains.toFixed(3)} | ${shown(range)} ${difference} ${tokens.toFixed(0)} |`);
  }
}

function shown(range) {
  return range.map((bound) => bound.toFixed(3)).join(' to ');
}

async function measure(name, prompt) {
  const right = [];
  let tokens = 0;
  let next = 0;
  const ask = async () => {
    while (next < asked.length) {
      const at = next++;
      const reply = await replyTo(name, await prompt(found[at], asked[at].text));
      right[at] = holds(reply.text, asked[at]);
      tokens += reply.tokens;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  const hits = right.map(Number);
  if (name === 'default') hitsOfDefault = hits;
  const gained = name === 'default' ? undefined : hitsOfDefault?.map((hit, at) => hit - hits[at]);
  return {
    name,
    contains: mean(hits),
    range: interval(hits),
    minus: gained && { mean: mean(gained), range: interval(gained) },
    tokens: tokens / asked.length,
  };
}

/** Makes a reply, or takes the kept one. */
async function replyTo(name, messages) {
  const program = name === 'default' || server === undefined ? 'lorekeep' : 'llama-server';
  const key = JSON.stringify([program, file, maxTokens, messages]);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const reply = await (program === 'lorekeep' ? generated(messages) : served(messages));
  if (options.keep !== undefined) appendFileSync(options.keep, `${JSON.stringify({ key, reply })}\n`);
  return reply;
}

function keptReplies() {
  if (options.keep === undefined || !existsSync(options.keep)) return new Map();
  const lines = readFileSync(options.keep, 'utf8').trimEnd().split('\n');
  return new Map(lines.map((line) => JSON.parse(line)).map(({ key, reply }) => [key, reply]));
}

async function generated(messages) {
  const { text, usage } = await model.generate({ messages, maxTokens, sampling: { temperature: 0 } }).result;
  return { text, tokens: usage.completion };
}

/** The same from llama-server. */
async function served(messages) {
  const body = JSON.stringify({ messages, max_tokens: maxTokens, temperature: 0 });
  const headers = { ...closing, 'content-type': 'application/json' };
  const response = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${options.server}: ${response.status} ${await response.text()}`);
  const { choices, usage } = await response.json();
  return { text: choices[0].message.content, tokens: usage.completion_tokens };
}

/** The messages of a generate node without params. */
function defaultPrompt() {
  const builder = new PromptBuilder(schema.params.parse({}), 'params');
  return async (records, question) => {
    const knowledge = records.map((text, at) => ({
      _type: 'knowledge',
      node: 'kb',
      storage: 'kb',
      id: String(at),
      text,
      rank: at + 1,
      score: 1,
    }));
    return (await builder.build(new Interaction(question, {}), { history: [], knowledge })).messages;
  };
}

function user(content) {
  return { role: 'user', content };
}

/** Whether a reply contains the answer, whatever its case and the blanks and commas between words. */
function holds(reply, { id }) {
  const plain = (text) => text.toLowerCase().replace(/[\s,]+/g, ' ');
  return plain(reply).includes(plain(answers.get(id)));
}

function share(values) {
  return values.filter(Boolean).length / values.length;
}

function rowsOf(leaf) {
  const lines = gunzipSync(readFileSync(join(dataFolder, 'ir', 'xquad', 'en', leaf))).toString('utf8');
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function answersById() {
  return new Map(rowsOf('queries.jsonl.gz').map(({ id, answer }) => [id, answer]));
}

/** The number of the article that each paragraph is from. */
function articlesByDocument() {
  const numbers = new Map();
  return new Map(
    rowsOf('corpus.jsonl.gz').map(({ id, topic_en: article }) => {
      if (!numbers.has(article)) numbers.set(article, numbers.size);
      return [id, numbers.get(article)];
    }),
  );
}
