// argv: embedding models with commas between them, a backend, how often the texts are embedded at a time. Prints for each
// model, as one line of JSON, the vectors of the CPU and of the GPU, before, while and after it leaves, and the bytes of
// the GPU that are taken then. One process for all models: a driver compiles each kernel once.
import { readFileSync } from 'node:fs';
import { EmbeddingModel, useBackend } from 'lorekeep';

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
  const running = Array.from({ length: Number(times ?? 8) }, () => rows(gpu));
  await gpu.leaveGpu();
  const { STAND_IN_TELLS: told } = process.env;
  const taken = told && Number(readFileSync(told, 'utf8'));
  many.push(...(await Promise.all(running)));
  places.push(gpu.facts.device);
  const left = await rows(gpu);
  await Promise.all([cpu.close(), gpu.close()]);
  return { places, ...vectors, taken, many, left };
}

const found = [];
for (const path of paths.split(',')) found.push(await compare(path));
console.log(JSON.stringify(found));
