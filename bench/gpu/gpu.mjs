// Language and embedding models on a GPU, beside llama-server with the same plugin: one stream, many streams, streams that share a prompt,
// a long prompt, the scene of fairness, embeddings of three lengths, the time until a model can be asked; and what bounds each row.
//
//   node bench/gpu/gpu.mjs [--backend cuda] [--parts streams,fairness,embeddings] [--models Llama-3.2-1B,Llama-3.1-8B,"SmolLM2-135M random"]
//     [--counts 32,8,128] [--prompt 512] [--long 4096] [--depth 4000] [--reply 128] [--rounds 5] [--minutes 8] [--limit 60] [--threads 4]
//     [--texts 2048] [--server PROGRAM] [--rows FILE] [--ceilings FILE]
//
// The models have random weights in Q4_0. llama-server finds the plugin beside itself or by GGML_BACKEND_PATH. Contestants take turns, and
// ratios are medians over the rounds of one round's ratio. The most telling rows come first. A call that takes longer than --limit seconds
// fails, and its contestant with it. --rows is given each row as a line of JSON after each round, so that an interrupted run loses one round.
// --ceilings is the output of ceilings.cu, by which the last table says what bounds a row. No part runs on a machine without a GPU, except
// to rehearse.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { findServer } from '../embedding/llama-server.mjs';
import { missingServer } from '../generation/contestants.mjs';
import { scenes } from '../generation/parts/scenes.mjs';
import { runParts } from '../generation/parts.mjs';
import { runTrial } from '../harness/trial.mjs';
import { boundsTable } from './bounds.mjs';
import { embeddings } from './embeddings.mjs';
import { streams } from './streams.mjs';

const parts = {
  streams: { run: streams, seconds: 240 },
  fairness: { run: fairness, seconds: 25 },
  embeddings: { run: embeddings, seconds: 20 },
};
const defaults = {
  backend: 'cuda',
  parts: Object.keys(parts).join(),
  models: 'Llama-3.2-1B,Llama-3.1-8B,SmolLM2-135M random',
  counts: '32,8,128',
  prompt: 512,
  long: 4096,
  depth: 4000,
  reply: 128,
  rounds: 5,
  minutes: 8,
  limit: 60,
  threads: 4,
  texts: 2048,
  server: findServer() ?? '',
  rows: '',
  ceilings: '',
};

await runTrial('gpu', defaults, async (options) => {
  process.env.LLAMA_ARG_N_GPU_LAYERS = '999'; // llama-server reads it
  const record = (row) => {
    if (options.rows) appendFileSync(options.rows, `${JSON.stringify(row)}\n`);
  };
  const peers = 'llama-server';
  const result = await runParts(parts, { ...options, peers, record });
  result.leftOut.push(...missingServer({ ...options, peers }));
  if (existsSync(options.ceilings)) {
    const ceilings = JSON.parse(readFileSync(options.ceilings, 'utf8'));
    result.tables.push(boundsTable(result.detail.streams ?? [], ceilings));
    result.detail.ceilings = ceilings;
  } else result.leftOut.push({ name: 'what bounds a row', reason: 'no --ceilings of this GPU' });
  return {
    data: `random weights in Q4_0, backend ${options.backend}, ${options.rounds} rounds in turns`,
    ...result,
  };
});

/** The scene of the trial `fairness`, on the first model. */
async function fairness(options, result) {
  const [model] = options.models.split(',');
  await scenes({ ...options, model, prompt: options.long, targets: 'auto', batches: '2048' }, result);
  for (const row of result.detail.scenes.rows) options.record({ row: 'fairness', model, ...row });
}
