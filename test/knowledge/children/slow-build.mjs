// argv: folder, number of a portion. Builds the knowledge base of kb.json on a clock on which each portion of texts takes
// more than a minute; after that portion it says so and hangs.
import { EmbeddingModel } from 'lorekeep';
import { buildKnowledgeBase } from 'lorekeep/knowledge-base';

const [folder, last] = process.argv.slice(2);
const model = await EmbeddingModel.load(`${folder}/tiny.gguf`, { threads: 1 });
let portions = 0;
performance.now = () => portions * 61_000;
await buildKnowledgeBase(`${folder}/kb.json`, {
  models: async () => ({ model }),
  onProgress: ({ phase, done, total }) => {
    if (phase !== 'embed' || done === 0) return;
    portions++;
    if (portions < Number(last)) return;
    process.send({ done, total });
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
});
