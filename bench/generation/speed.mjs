// Generation beside llama-server (-np 4), node-llama-cpp and llama.cpp inside lorekeep, on the same files with the same threads: prefill,
// decode, four streams, memory; curves over length of prompt, chunk, depth and streams; AVX-512 VNNI only where the processor has AMX;
// AVX2 only; beside a busy neighbour; ik_llama.cpp; agents that share a persona.
//
//   node bench/generation/speed.mjs [--parts speed,vnni,neighbour,avx2,agents,curves,ik] [--models "SmolLM2-135M Q8_0",...] [--prompt 512]
//     [--long 4096] [--depth 4000] [--reply 64] [--rounds 3] [--deep-rounds 2] [--agents 1000] [--threads 2] [--minutes 60]
//     [--server PROGRAM] [--peers runtimes,llama-server,node-llama-cpp]
//
// Prompts are random token ids, replies are greedy and of a fixed length. Contestants take turns, round by round; the ratio to a peer is the
// median over the rounds of one round's ratio. Rounds are left out so that all parts fit into --minutes. LOREKEEP_IK_BENCH names
// ik_llama.cpp's llama-bench; `npm run setup:llama-server` in bench/ builds the programs of llama.cpp.
import { findServer, hasAmx } from '../embedding/llama-server.mjs';
import { runTrial } from '../harness/trial.mjs';
import { missingServer } from './contestants.mjs';
import { modelNames } from './models.mjs';
import { agents } from './parts/agents.mjs';
import { avx2 } from './parts/avx2.mjs';
import { curves } from './parts/curves.mjs';
import { ik } from './parts/ik.mjs';
import { neighbour } from './parts/neighbour.mjs';
import { speed, vnni } from './parts/speed.mjs';
import { runParts } from './parts.mjs';

const parts = {
  speed: { run: speed, seconds: 340 },
  vnni: { run: vnni, seconds: hasAmx() ? 240 : 0 },
  neighbour: { run: neighbour, seconds: 70 },
  avx2: { run: avx2, seconds: 80 },
  agents: { run: agents, seconds: 70 },
  curves: { run: curves, seconds: 110 },
  ik: { run: ik, seconds: process.env.LOREKEEP_IK_BENCH ? 240 : 0 },
};
const defaults = {
  parts: Object.keys(parts).join(),
  models: modelNames.join(),
  prompt: 512,
  long: 4096,
  depth: 4000,
  reply: 64,
  rounds: 3,
  'deep-rounds': 2,
  agents: 1000,
  persona: 500,
  threads: 2,
  minutes: 60,
  server: findServer() ?? '',
  peers: 'runtimes,llama-server,node-llama-cpp',
};

await runTrial('generation', defaults, async (options) => {
  const result = await runParts(parts, options);
  result.leftOut.push(...missingServer(options));
  const { prompt, reply, rounds, threads } = options;
  const data = `prompts of ${prompt} random tokens, greedy replies of ${reply}, ${threads} threads, ${rounds} rounds in turns`;
  return { data, ...result };
});
