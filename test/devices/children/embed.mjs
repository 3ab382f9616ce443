// argv: embedding models with commas between them, a backend, how often the texts are embedded at a time. Prints for each
// model, as one line of JSON, the vectors of the CPU and of the GPU, how calls end that run when the model is closed with an
// error, and the bytes of the GPU that are taken then. One process for all models: a driver compiles each kernel once.
import { readFileSync } from 'node:fs';
import { EmbeddingModel, LorekeepError, useBackend } from 'lorekeep';

const [paths, backend, times] = process.argv.slice(2);
await useBackend(backend);
const texts = [
  'The lighthouse keeper lit the lamp.',
  'Bread rises in a warm oven.',
  'bees',
  'x '.repeat(180),
];
const rows = async (model) => {
  const flat = await model.embed(texts);
  return texts.map((_, row) => [...flat.subarray(row * model.dimension, (row + 1) * model.dimension)]);
};
async function compare(path) {
  const cpu = await EmbeddingModel.load(path, { placement: 'ram', runtime: 'llama.cpp' });
  const gpu = await EmbeddingModel.load(path, { placement: 'vram' });
  const places = [cpu.facts.device, gpu.facts.device];
  const vectors = { cpu: await rows(cpu), gpu: await rows(gpu) };
  const many = await Promise.all(Array.from({ length: Number(times ?? 8) }, () => rows(gpu)));
  const code = (call) => call.then(() => 'done').catch((error) => error.code);
  const running = Array.from({ length: Number(times ?? 8) }, () => code(rows(gpu)));
  await gpu.close(new LorekeepError('DEVICE_LOST', 'others need the memory'));
  const { STAND_IN_TELLS: told } = process.env;
  const taken = told && Number(readFileSync(told, 'utf8'));
  const ended = await Promise.all(running);
  await cpu.close();
  return { places, ...vectors, taken, many, ended };
}

const found = [];
for (const path of paths.split(',')) found.push(await compare(path));
console.log(JSON.stringify(found));
