// A contestant is a process of its own that holds one index and answers one call at a time: the parent lets them take
// turns, so that whatever else the machine does meets all of them alike.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The parent's end. `call(name, argument)` resolves with what the contestant's function of that name returned. */
export class Contestant {
  #child;
  #pending;

  constructor(name, module, options = {}) {
    this.name = name;
    this.#child = fork(fileURLToPath(module), [], {
      env: { ...process.env, LOREKEEP_BENCH: JSON.stringify(options) },
      serialization: 'advanced',
    });
    this.#child.on('message', ({ error, result }) => {
      if (error) this.#pending?.reject(new Error(`${name}: ${error}`));
      else this.#pending?.resolve(result);
    });
    this.#child.on('exit', (code, signal) =>
      this.#pending?.reject(new Error(`${name} ended with ${signal ?? code}`)),
    );
  }

  call(method, argument) {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#child.send({ method, argument });
    });
  }

  end() {
    this.#pending = undefined;
    this.#child.kill();
  }
}

/** The child's end: `methods` by name, asynchronous or not. */
export function serve(methods) {
  process.on('message', async ({ method, argument }) => {
    try {
      process.send({ result: await methods[method](argument) });
    } catch (error) {
      process.send({ error: error?.stack ?? String(error) });
    }
  });
}

/** What the parent passed to this contestant. */
export const contestantOptions = () => JSON.parse(process.env.LOREKEEP_BENCH ?? '{}');

/**
 * Calls `search(i)`, which gives the ordinals found, for i in [0, count), one after the other.
 * @returns per query latency and CPU time of the whole process in microseconds (the latter is what remains comparable
 * beside busy neighbours), and all ordinals, k to a query.
 */
export async function timeQueries(count, k, search) {
  const latencies = new Float64Array(count);
  const found = new Int32Array(count * k).fill(-1);
  const cpu = new Float64Array(count);
  const begin = process.hrtime.bigint();
  for (let i = 0; i < count; i++) {
    const before = process.cpuUsage();
    const started = process.hrtime.bigint();
    const ordinals = await search(i);
    latencies[i] = Number(process.hrtime.bigint() - started) / 1000;
    const used = process.cpuUsage(before);
    cpu[i] = used.user + used.system;
    for (let j = 0; j < Math.min(k, ordinals.length); j++) found[i * k + j] = Number(ordinals[j]);
  }
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  return { seconds, cpu, latencies, found };
}
