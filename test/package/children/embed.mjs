// Embeds texts with each model of the arguments on the prebuild and the CPU plugin that the environment names.
// Prints one line of JSON: {unsupported} or {plugins: mapped CPU plugins, vectors: one base64 of float32 per model}.
import { readFileSync } from 'node:fs';
import { EmbeddingModel } from '../../../dist/lib/index.js';

const [texts, ...models] = process.argv.slice(2);

async function embedAll() {
  const vectors = [];
  for (const path of models) {
    const model = await EmbeddingModel.load(path, { threads: 1, runtime: 'llama.cpp' });
    const rows = await model.embed(JSON.parse(texts));
    vectors.push(Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength).toString('base64'));
    await model.close();
  }
  const maps = process.platform === 'linux' ? readFileSync('/proc/self/maps', 'utf8') : '';
  const plugins = [...new Set([...maps.matchAll(/libggml-cpu[^\s/]*/g)].map((match) => match[0]))];
  return { plugins, vectors };
}

const result = await embedAll().catch((error) => {
  if (error.code !== 'UNSUPPORTED') throw error;
  return { unsupported: error.message };
});
console.log(JSON.stringify(result));
