// The gain of prompt lookup: grounded questions of XQuAD (en), each with the paragraphs that lexical search finds, answered one
// after the other with and without drafts, in turns. Decoding time only; greedy, so that both give the same text.
//
//   LOREKEEP_MODELS=FOLDER node bench/generation/drafts.mjs [--questions 50] [--tokens 128] [--runtime decoder]
//     [--form answer|quote]
//
// `answer`: the default prompt of a generate node. `quote`: the same with quotations that are spans of the paragraphs.

import { commandLine } from '../harness/command-line.mjs';
import { LanguageModel, TextIndex } from '../lorekeep.mjs';
import { collectionsPresent, readCollection } from '../quality/collections.mjs';
import { languageModel } from './models.mjs';

const { values: options } = commandLine({
  options: {
    questions: { type: 'string', default: '50' },
    tokens: { type: 'string', default: '128' },
    runtime: { type: 'string', default: 'decoder' },
    form: { type: 'string', default: 'answer' },
  },
});
const file = await languageModel('SmolLM2-135M Q4_1');
if (!collectionsPresent() || file.path === undefined) {
  console.log('bench/generation: left out, no collections or no language model');
  process.exit(0);
}

const { documents, queries } = readCollection('xquad-en');
const count = Number(options.questions);
const asked = queries.filter((_, at) => at % Math.floor(queries.length / count) === 0).slice(0, count);
const texts = documents.map(({ text }) => text);
const index = await TextIndex.build(texts, { tokenizer: 'enhanced' });
const model = await LanguageModel.load(file.path, { contextSize: 4096, runtime: options.runtime });

const ways = { without: [], with: [] };
const counts = { drafted: 0, accepted: 0, tokens: 0, same: 0 };
for (const { text } of asked) {
  const { ordinals } = await index.search(text, { k: 3 });
  const records = [...ordinals].map((ordinal) => texts[ordinal]);
  const replies = {};
  for (const way of Object.keys(ways)) {
    const {
      text: reply,
      timing,
      usage,
      drafts,
    } = await model.generate(requestOf(records, text, way === 'with')).result;
    replies[way] = reply;
    ways[way].push(timing.decodeMs / Math.max(1, usage.completion - 1));
    if (way === 'without') continue;
    counts.drafted += drafts.drafted;
    counts.accepted += drafts.accepted;
    counts.tokens += usage.completion;
  }
  if (replies.with === replies.without) counts.same++;
}
await model.close();
await index.close();

const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
const gains = ways.without.map((ms, at) => ms / ways.with[at]).sort((a, b) => a - b);
console.log(
  `${asked.length} questions, ${options.form}, ${options.runtime}: the same text ${counts.same} times`,
);
console.log(`drafted ${counts.drafted}, accepted ${counts.accepted}, of ${counts.tokens} tokens`);
console.log(
  `ms per token ${mean(ways.without).toFixed(2)} without, ${mean(ways.with).toFixed(2)} with drafts`,
);
console.log(
  `gain by question: median ${gains[gains.length >> 1].toFixed(2)}, all ${(mean(ways.without) / mean(ways.with)).toFixed(2)}`,
);

function requestOf(records, question, drafts) {
  const content = `Context:\n${records.toReversed().join('\n\n')}\n\nQuestion: ${question}\nAnswer with a sentence of the context:`;
  return {
    messages: [{ role: 'user', content }],
    maxTokens: Number(options.tokens),
    sampling: { temperature: 0 },
    drafts,
    ...(options.form === 'quote' && { quotes: { texts: records } }),
  };
}
