// node-llama-cpp embeds with lorekeep's model file; a loop over all vectors is the index.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { root } from '../../harness/cache.mjs';

const maxTokens = 500;

/**
 * One context of one thread, which is its fastest: its threads wait for each other in a loop, so two took 7 times the
 * processor time for a text on 2 busy cores, and its usual number 34 times. Two contexts at a time gave wrong vectors.
 */
async function embedder() {
  const llama = await getLlama({
    build: 'never',
    gpu: false,
    logLevel: LlamaLogLevel.error,
    skipDownload: true,
  });
  const model = await llama.loadModel({ modelPath: join(root, 'data', 'models', 'all-MiniLM-L6-v2.gguf') });
  const context = await model.createEmbeddingContext({ contextSize: 512, batchSize: 512, threads: 1 });
  return async (text) => {
    const tokens = model.tokenize(text).slice(0, maxTokens);
    // The vector of no tokens is empty, and a collection may hold empty texts.
    if (tokens.length === 0) return new Float32Array(model.embeddingVectorSize);
    const { vector } = await context.getEmbeddingFor(tokens);
    const norm = Math.hypot(...vector);
    return Float32Array.from(vector, (value) => value / norm);
  };
}

export async function build(texts, folder) {
  mkdirSync(folder, { recursive: true });
  const embed = await embedder();
  const vectors = [];
  for (const text of texts) vectors.push(Buffer.from((await embed(text)).buffer));
  writeFileSync(join(folder, 'vectors'), Buffer.concat(vectors));
}

export async function open(folder, rows) {
  const embed = await embedder();
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
