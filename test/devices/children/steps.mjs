// argv: an embedding model, a backend. Prints, as one line of JSON, the vectors of a long text on the CPU and on the GPU, and
// the steps of STAND_IN_STEPS that computed it; and what the same text gives that is cancelled during its first steps.
import { readFileSync } from 'node:fs';
import { EmbeddingModel, useBackend } from 'lorekeep';

const [path, backend] = process.argv.slice(2);
await useBackend(backend);
const text = 'bees '.repeat(500);
const cpu = await EmbeddingModel.load(path, { placement: 'ram', runtime: 'llama.cpp' });
const gpu = await EmbeddingModel.load(path, { placement: 'vram' });
const told = () => readFileSync(process.env.STAND_IN_STEPS, 'utf8').trim().split('\n');
const before = told().length;
const vectors = [[...(await cpu.embed(text))], [...(await gpu.embed(text))]];
const steps = told()
  .slice(before)
  .map((line) => line.split(' ').map(Number));
const stop = new AbortController();
const seen = told().length;
const cancelled = gpu.embed(text, { signal: stop.signal }).catch(({ code }) => code);
while (told().length === seen) await new Promise(setImmediate);
stop.abort();
console.log(JSON.stringify({ vectors, steps, cancelled: await cancelled }));
await Promise.all([cpu.close(), gpu.close()]);
