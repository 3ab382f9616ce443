// One model for several clients: a stream beside a long prompt and background work; cancels in every phase; a short request behind a
// cancelled prompt; a frame loop beside a throttled generation; retrieval beside generation.
//
//   node bench/generation/fairness.mjs [--parts scenes,behind,retrieval,throttle,cancels] [--model "SmolLM2-135M Q4_1"] [--prompt 4000]
//     [--targets auto,20,40,80,160,0] [--batches 2048,256,64] [--rounds 3] [--cancels 1000] [--frames 600] [--queries 300] [--threads 2]
//     [--minutes 60] [--server PROGRAM] [--peers runtimes,llama-server]
//
// 0 is lorekeep without a step target. Contestants take turns, round by round, and medians over the rounds count; of the scenes, contestants
// other than lorekeep's own runtime play the first round only. B also comes alone in each round, and "of its time alone" is a ratio within a
// round. After --minutes no further part begins, and those left are named.
import { findServer } from '../embedding/llama-server.mjs';
import { runTrial } from '../harness/trial.mjs';
import { missingServer } from './contestants.mjs';
import { behind } from './parts/behind.mjs';
import { cancels } from './parts/cancels.mjs';
import { retrieval } from './parts/retrieval.mjs';
import { scenes } from './parts/scenes.mjs';
import { throttle } from './parts/throttle.mjs';
import { runParts } from './parts.mjs';

const parts = { scenes, behind, retrieval, throttle, cancels };
const defaults = {
  parts: Object.keys(parts).join(),
  model: 'SmolLM2-135M Q4_1',
  prompt: 4000,
  targets: 'auto,20,40,80,160,0',
  batches: '2048,256,64',
  rounds: 3,
  cancels: 1000,
  frames: 600,
  queries: 300,
  threads: 2,
  minutes: 60,
  server: findServer() ?? '',
  peers: 'runtimes,llama-server',
};

await runTrial('fairness', defaults, async (options) => {
  const result = await runParts(parts, options);
  result.leftOut.push(...missingServer(options));
  const data = `${options.model}, ${options.threads} threads; B brings ${options.prompt} random tokens; ${options.rounds} rounds in turns`;
  return { data, ...result };
});
