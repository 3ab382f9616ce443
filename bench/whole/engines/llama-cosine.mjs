// node-llama-cpp embeds with lorekeep's model file; a loop over all vectors is the index. Documents are embedded by a context of one
// thread per core, a query by one context with all cores.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { root } from '../../harness/cache.mjs';

const cores = availableParallelism();
const mostTokens = 500;

/** Returns functions that embed, one for each context. */
async function embedders(contexts, threads) {
  const llama = await getLlama({
    build: 'never',
    gpu: false,
    logLevel: LlamaLogLevel.error,
    maxThreads: cores,
    skipDownload: true,
  });
  const model = await llama.loadModel({ modelPath: join(root, 'data', 'models', 'all-MiniLM-L6-v2.gguf') });
  const settings = { contextSize: 512, batchSize: 512, threads };
  const made = Array.from({ length: contexts }, () => model.createEmbeddingContext(settings));
  return (await Promise.all(made)).map((context) => async (text) => {
    const tokens = model.tokenize(text).slice(0, mostTokens);
    const { vector } = await context.getEmbeddingFor(tokens);
    const norm = Math.hypot(...vector);
    return Float32Array.from(vector, (value) => value / norm);
  });
}

export async function build(texts, folder) {
  mkdirSync(folder, { recursive: true });
  const vectors = new Array(texts.length);
  let next = 0;
  const work = async (embed) => {
    while (next < texts.length) {
      const row = next++;
      vectors[row] = Buffer.from((await embed(texts[row])).buffer);
    }
  };
  await Promise.all((await embedders(cores, 1)).map(work));
  writeFileSync(join(folder, 'vectors'), Buffer.concat(vectors));
}

export async function open(folder, rows) {
  const [embed] = await embedders(1, cores);
  const bytes = readFileSync(join(folder, 'vectors'));
  const vectors = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const dimension = vectors.length / rows;
  return async (text, k) => {
    const query = await embed(text);
    const scores = Array.from({ length: rows }, (_, row) => [row, dot(vectors, row * dimension, query)]);
    return scores
      .sort((a, b) => b[1] - a[1])
      .slice(0, k)
      .map(([row]) => row);
  };
}

function dot(vectors, at, query) {
  let sum = 0;
  for (let i = 0; i < query.length; i++) sum += vectors[at + i] * query[i];
  return sum;
}
