// argv: folder. Opens both knowledge bases again and again until it is told to stop. Sends {opens, problems, reasons}.
import { EmbeddingModel } from 'lorekeep';
import { openKnowledgeBase } from 'lorekeep/knowledge-base';

const [folder] = process.argv.slice(2);
const model = await EmbeddingModel.load(`${folder}/tiny.gguf`, { threads: 1 });
const problems = [];
const reasons = new Set();
let opens = 0;
let stopped = false;
process.on('message', () => {
  stopped = true;
});
const log = {
  info: (facts) => reasons.add(facts.reason),
  warn: (facts, message) => problems.push(`${message}: ${facts.err?.message ?? ''}`),
};
process.send('opening');
while (!stopped) {
  for (const config of ['kb.json', 'no-index.json']) await openOnce(`${folder}/${config}`);
}
process.send({ opens, problems: [...new Set(problems)], reasons: [...reasons] });
process.disconnect();

async function openOnce(config) {
  try {
    const kb = await openKnowledgeBase(config, { models: async () => ({ model }), log });
    const text = 'honey glaciers flour';
    for (const mode of ['dense', 'lexical', 'hybrid']) {
      const { hits } = await kb.search({ text, mode, topK: 1 });
      if (kb.size !== 240 || hits[0]?.id !== 'target')
        problems.push(`${config}: ${mode} found ${hits[0]?.id}`);
    }
    await kb.close();
    opens++;
  } catch (error) {
    problems.push(`${config}: ${error.message}`);
  }
}
