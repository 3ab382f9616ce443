// llama-server of the vendored release over loopback, four slots, its caches of prompts off where a run computes them anew.
import { readFileSync } from 'node:fs';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { CompletionServer } from '../completion-server.mjs';
import { play } from '../timeline.mjs';

const settings = contestantOptions();
const { model, program, end, threads, context, slots = 4, batch = 2048, flash = 'auto' } = settings;
const server = await CompletionServer.start(program, model, { threads, slots, context, batch, flash });
process.once('SIGTERM', () => process.exit()); // which ends the server

serve({
  async play({ requests }) {
    await server.erase();
    return play(requests, ({ prompt, maxTokens, reuse = false }) =>
      server.complete({ prompt, maxTokens, end, reuse }),
    );
  },
  /** Times of one request, as the server reports them. With `reuse`, a prefix shared with the last request is not computed again. */
  async measure({ reuse = false, ...request }) {
    if (!reuse) await server.erase();
    let times;
    const onEnd = (timings) => {
      times = timings;
    };
    for await (const _ of server.complete({ ...request, end, reuse: true, slot: 0, onEnd }));
    return {
      computed: times.prompt_n,
      prefillMs: times.prompt_ms,
      decodeMs: times.predicted_ms,
      completion: times.predicted_n,
    };
  },
  memory: () => ({
    all: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024,
  }),
});
