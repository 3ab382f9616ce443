// argv: a language model, an embedding model, a backend. Takes the device away during a generation and during an
// embedding (STAND_IN_LOST), and prints what happened as one line of JSON.
import { rmSync, writeFileSync } from 'node:fs';
import { EmbeddingModel, LanguageModel, useBackend } from 'lorekeep';

const [path, embeddings, backend, how] = process.argv.slice(2);
const lost = process.env.STAND_IN_LOST;
await useBackend(backend);
const settings = { contextSize: 256, threads: 1, batchThreads: 1, runtime: 'llama.cpp' };
const gpu = await LanguageModel.load(path, { ...settings, placement: 'vram' });
const cpu = await LanguageModel.load(path, { ...settings, placement: 'ram' });
const words = await EmbeddingModel.load(embeddings, { placement: 'vram' });
const request = { prompt: 'Once upon a time', maxTokens: 200, sampling: { temperature: 0 } };
const outcome = (promise) =>
  promise.then(
    () => 'done',
    ({ code }) => code,
  );

const onGpu = [gpu.generate(request), gpu.generate(request)];
const onCpu = cpu.generate(request);
for await (const _ of onGpu[0]) {
  writeFileSync(lost, how); // after the first piece
  break;
}
const second = await outcome(onGpu[1].result);
const after = await outcome(gpu.generate(request).result);
const embedding = [await outcome(words.embed('bees')), await outcome(words.embed('bees'))];
const bystander = await outcome(onCpu.result);
rmSync(lost);
await gpu.close();
await words.close();
const again = await LanguageModel.load(path, { ...settings, placement: 'vram' });
const wordsAgain = await EmbeddingModel.load(embeddings, { placement: 'vram' });
const reloaded = [await outcome(again.generate(request).result), await outcome(wordsAgain.embed('bees'))];
console.log(JSON.stringify({ second, after, embedding, bystander, reloaded }));
