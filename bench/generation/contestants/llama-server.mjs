// llama-server of the vendored release over loopback, four slots, its caches of prompts off where a run computes them anew.
import { readFileSync } from 'node:fs';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { CompletionServer } from '../completion-server.mjs';
import { play } from '../timeline.mjs';

const { model, program, end, threads, context, slots = 4, batch = 2048 } = contestantOptions();
const server = await CompletionServer.start(program, model, { threads, slots, context, batch });
process.once('SIGTERM', () => process.exit()); // which ends the server

const open = ({ prompt, maxTokens, reuse = false }) => server.complete({ prompt, maxTokens, end, reuse });

serve({
  play: ({ requests }) => play(requests, open),
  async measure(request) {
    let times;
    const onEnd = (timings) => {
      times = timings;
    };
    const stream = (one) => server.complete({ ...one, end, reuse: false, onEnd });
    const { one } = await play([{ name: 'one', ...request }], stream);
    const { prompt_ms: prefillMs, predicted_ms: decodeMs, predicted_n: completion } = times;
    return { firstMs: one.tokenMs[0] - one.startMs, prefillMs, decodeMs, completion };
  },
  memory: () => ({
    all: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024,
  }),
});
