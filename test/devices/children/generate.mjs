// argv: a language model, a backend. Generates on the CPU and on the GPU: several sequences, a cancelled one, a paused one,
// a saved prefix. Prints what came of it as one line of JSON.
import { LanguageModel, setThrottle, useBackend } from 'lorekeep';

const [path, backend] = process.argv.slice(2);
const { device } = await useBackend(backend);
const settings = { contextSize: 256, kvCells: 1024, threads: 1, batchThreads: 1, runtime: 'llama.cpp' };
const greedy = (prompt, maxTokens = 24) => ({ prompt, maxTokens, sampling: { temperature: 0 } });
const prompts = ['Once upon a time', 'The little dog', 'One day, a girl named Lily', 'There was a big tree'];

async function texts(placement) {
  const model = await LanguageModel.load(path, { ...settings, placement });
  const together = await Promise.all(prompts.map((prompt) => model.generate(greedy(prompt)).result));
  const again = await model.generate(greedy(prompts[0])).result; // from the cache
  return { model, texts: [...together, again].map(({ text }) => text), cached: again.usage.cached };
}

const cpu = await texts('ram');
const gpu = await texts('vram');
const cancelled = gpu.model.generate(greedy(prompts[1], 200));
const beside = gpu.model.generate(greedy(prompts[2]));
for await (const _ of cancelled) break;
const finish = (await cancelled.result).finish;
setThrottle(1);
const paused = await gpu.model.generate(greedy(prompts[3])).result;
setThrottle(0);
const found = {
  device,
  places: [cpu.model.facts.device, gpu.model.facts.device],
  cpu: cpu.texts,
  gpu: gpu.texts,
  cached: gpu.cached,
  finish,
  beside: (await beside.result).text,
  paused: { text: paused.text, ms: paused.timing.pausedMs },
};
await Promise.all([cpu.model.close(), gpu.model.close()]);
console.log(JSON.stringify(found));
