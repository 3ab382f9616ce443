// argv: a language model, an embedding model, a backend. Prints the bytes of the GPU that are taken after each model was
// closed, as one line of JSON; in the end, models are closed while the device is lost.
import { readFileSync, writeFileSync } from 'node:fs';
import { EmbeddingModel, LanguageModel, useBackend } from 'lorekeep';

const [path, embeddings, backend] = process.argv.slice(2);
await useBackend(backend);
const taken = () => Number(readFileSync(process.env.STAND_IN_TELLS, 'utf8'));
const settings = { contextSize: 256, threads: 1, batchThreads: 1, placement: 'vram' };
const talker = async () => {
  const model = await LanguageModel.load(path, settings);
  await model.generate({ prompt: 'Once upon a time', maxTokens: 5 }).result;
  return model;
};
const embedder = async () => {
  const model = await EmbeddingModel.load(embeddings, { placement: 'vram' });
  await model.embed('bees');
  return model;
};
const used = [];
const left = [];
for (const load of [talker, embedder, talker]) {
  const model = await load();
  used.push(taken() > 0);
  await model.close();
  left.push(taken());
}
// A request that ends before its grammar is read holds the model until it is.
const grammar = Array.from({ length: 20_000 }, (_, n) => `r${n} ::= "a" r${n + 1}`).join('\n');
const ended = await talker();
const controller = new AbortController();
const rules = `root ::= r0\n${grammar}\nr20000 ::= "b"`;
const call = { prompt: 'x', maxTokens: 5, grammar: rules };
const { result } = ended.generate(call, { signal: controller.signal });
controller.abort();
await result.catch(() => {});
await ended.close();
left.push(taken());
const models = [await talker(), await embedder()];
writeFileSync(process.env.STAND_IN_LOST, 'throw');
for (const model of models) await model.close();
console.log(JSON.stringify({ used, left }));
