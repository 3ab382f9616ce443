// llama-server, asked over loopback: requests of up to 32 texts, two at a time for each server, or one text for a query. Each
// configuration is a server of its own, or several, started when it is first asked; the idle ones cost nothing but memory.
import { readFileSync } from 'node:fs';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { ServerProcess } from '../server-process.mjs';
import { ownProcessor, timeBulk, timeEach } from '../timing.mjs';

const { model, program, cores, pooling } = contestantOptions();
const [perRequest, requestsPerServer] = [32, 2];
const ticksPerSecond = 100; // of /proc/PID/stat, on every Linux
/** A batch must hold the longest text, of 450 tokens; a larger one packs more texts, whose attention to each other is computed, too. */
const configurations = {
  [`${cores} threads, 1 slot`]: { servers: 1, threads: cores, slots: 1, batch: 512 },
  [`${cores} threads, 4 slots`]: { servers: 1, threads: cores, slots: 4, batch: 512 },
  [`${cores} threads, 4 slots, batch 2048`]: { servers: 1, threads: cores, slots: 4, batch: 2048 },
  [`${cores} servers x 1 thread, 1 slot`]: { servers: cores, threads: 1, slots: 1, batch: 512 },
};
const started = new Map();
process.once('SIGTERM', () => process.exit()); // which ends the servers

async function serversOf(configuration) {
  if (!started.has(configuration)) {
    const { servers, ...settings } = configurations[configuration];
    const made = Array.from({ length: servers }, () =>
      ServerProcess.start(program, model, { pooling, ...settings }),
    );
    started.set(configuration, await Promise.all(made));
  }
  return started.get(configuration);
}

/** Seconds that the servers and this process have used. */
const processor = (servers) => () =>
  servers.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  }, ownProcessor());

serve({
  configurations: () => Object.keys(configurations),
  async bulk({ texts, configuration }) {
    const servers = await serversOf(configuration);
    const callers = servers.flatMap((server) => Array.from({ length: requestsPerServer }, () => server));
    // Few texts are spread over all callers.
    const share = Math.min(perRequest, Math.ceil(texts.length / callers.length));
    const embed = async () => {
      const rows = [];
      let next = 0;
      const work = async (server) => {
        while (next < texts.length) {
          const begin = next;
          next += share;
          const part = await server.embed(texts.slice(begin, begin + share));
          for (const [i, row] of part.entries()) rows[begin + i] = row;
        }
      };
      await Promise.all(callers.map(work));
      return (i) => rows[i];
    };
    return timeBulk(texts, embed, processor(servers));
  },
  async each({ texts, configuration }) {
    const [server] = await serversOf(configuration);
    return timeEach(texts, (text) => server.embed([text]));
  },
});
