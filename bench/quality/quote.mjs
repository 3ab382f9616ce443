// How often the sentences that a quote node replies with contain the answer: questions of XQuAD over the paragraphs that
// lexical search finds (top 5), by the number of sentences. Baseline: the first sentences of the best paragraph.
//
//   node bench/quality/quote.mjs [--only en,de,zh] [--tokenizer multilingual]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { bestSentences } from '../../dist/src/agents/nodes/quote/best-sentences.js';
import { sentences } from '../../dist/src/agents/nodes/quote/sentences.js';
import { dataFolder } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { TextIndex, tokenize } from '../lorekeep.mjs';
import { collectionsPresent, readCollection, xquadLanguages } from './collections.mjs';

const hits = 5;
const counts = [1, 3];
const { values: options } = commandLine({
  options: { only: { type: 'string' }, tokenizer: { type: 'string' } },
});

if (!collectionsPresent()) {
  console.log(
    `bench/quality: left out, no collections under ${dataFolder}; LOREKEEP_DATA names their folder`,
  );
  process.exit(0);
}
console.log('| XQuAD | tokenizer | in the paragraphs | first sentence | quoted, 1 | first 3 | quoted, 3 |');
console.log('|---|---|---|---|---|---|---|');
for (const language of options.only?.split(',') ?? xquadLanguages) {
  const tokenizer = options.tokenizer ?? (language === 'en' ? 'enhanced' : 'multilingual');
  const { found, baseline, quoted } = await measure(language, tokenizer);
  const cells = counts.flatMap((count) => [baseline[count], quoted[count]]);
  console.log(
    `| ${[language, tokenizer, ...[found, ...cells].map((share) => share.toFixed(3))].join(' | ')} |`,
  );
}

async function measure(language, tokenizer) {
  const { documents, queries } = readCollection(`xquad-${language}`);
  const answers = answersOf(language);
  const texts = documents.map(({ text }) => text);
  const index = await TextIndex.build(texts, { tokenizer });
  const storage = { tokenizer, size: texts.length, documentFrequency: frequencies(texts, tokenizer) };
  const tally = { found: 0, baseline: { 1: 0, 3: 0 }, quoted: { 1: 0, 3: 0 } };
  const asked = queries.filter(({ id }) => answers.get(id));
  for (const { id, text: query } of asked) {
    const answer = answers.get(id);
    const { ordinals } = await index.search(query, { k: hits });
    const knowledge = [...ordinals].map((ordinal, at) => ({
      node: 'kb',
      text: texts[ordinal],
      rank: at + 1,
    }));
    const holds = (parts) => Number(parts.some((part) => part.includes(answer)));
    tally.found += holds(knowledge.map(({ text }) => text));
    const first = [...sentences(knowledge[0]?.text ?? '')].map(({ start, end }) =>
      knowledge[0].text.slice(start, end),
    );
    for (const count of counts) {
      const sources = new Map([['kb', { query, storage }]]);
      const wanted = { count, minScore: 0 };
      const { best } = await bestSentences(knowledge, sources, wanted, new AbortController().signal);
      tally.quoted[count] += holds(best.map(({ text }) => text));
      tally.baseline[count] += holds(first.slice(0, count));
    }
  }
  await index.close();
  const share = (count) => count / asked.length;
  const shares = (byCount) => Object.fromEntries(counts.map((count) => [count, share(byCount[count])]));
  return { found: share(tally.found), baseline: shares(tally.baseline), quoted: shares(tally.quoted) };
}

/** Short answers by the id of their question. */
function answersOf(language) {
  const lines = gunzipSync(readFileSync(join(dataFolder, 'ir', 'xquad', language, 'queries.jsonl.gz')))
    .toString('utf8')
    .trimEnd()
    .split('\n');
  return new Map(lines.map((line) => JSON.parse(line)).map(({ id, answer }) => [id, answer]));
}

/** As Storage.documentFrequency(). */
function frequencies(texts, tokenizer) {
  const counts = new Map();
  for (const text of texts) {
    for (const word of new Set(tokenize(text, tokenizer))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return (word) => counts.get(word) ?? 0;
}
