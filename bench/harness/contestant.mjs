// A contestant is a process of its own that holds one index or model and answers one call at a time: the parent lets them take
// turns, so that whatever else the machine does meets all of them alike.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const bootstrap = fileURLToPath(new URL('contestant-process.mjs', import.meta.url));
const defaultLimitSeconds = 600;
const graceMs = 3000;

/** A peer that can't take part, for a reason that is not its fault: it is not installed, or not built. */
export class Unavailable extends Error {}

/** The parent's end. `call(name, argument)` resolves with what the contestant's function of that name returned. */
export class Contestant {
  #child;
  #pending;
  #ended;

  /** @param module URL of a module that calls serve() */
  constructor(name, module, options = {}, env = {}) {
    this.name = name;
    this.#child = fork(bootstrap, [String(module)], {
      env: { ...process.env, ...env, LOREKEEP_BENCH: JSON.stringify(options) },
      serialization: 'advanced',
    });
    this.#child.on('message', (message) => this.#receive(message));
    this.#child.on('exit', (code, signal) => {
      this.#ended ??= new Error(`the process ended with ${signal ?? code}`);
      this.#settle('reject', this.#ended);
    });
    this.started = this.#reply();
    this.started.catch(() => {}); // reported by whoever waits for it
  }

  async call(method, argument, limitSeconds = defaultLimitSeconds) {
    if (this.#ended) throw this.#ended;
    const late = setTimeout(() => {
      this.#ended = new Error(`${method}: no answer in ${limitSeconds} s`);
      this.#settle('reject', this.#ended);
      this.#child.kill('SIGKILL');
    }, limitSeconds * 1000);
    try {
      this.#child.send({ method, argument });
      return await this.#reply();
    } finally {
      clearTimeout(late);
    }
  }

  /** The process ends by itself, so that it can remove its files; by force where it does not. */
  end() {
    this.#pending = undefined;
    this.#ended ??= new Error('it was ended');
    if (this.#child.connected) this.#child.disconnect();
    setTimeout(() => this.#child.kill('SIGKILL'), graceMs).unref();
  }

  #reply() {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
    });
  }

  #receive({ error, unavailable, result }) {
    if (unavailable) this.#settle('reject', new Unavailable(unavailable));
    else if (error) this.#settle('reject', new Error(error));
    else this.#settle('resolve', result);
  }

  #settle(how, value) {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.[how](value);
  }
}

/** The child's end: `methods` by name, asynchronous or not. */
export function serve(methods) {
  process.on('message', async ({ method, argument }) => {
    try {
      process.send({ result: await methods[method](argument) });
    } catch (error) {
      process.send({ error: error?.message ?? String(error) });
    }
  });
}

/** The options that the parent passed to this contestant. */
export const contestantOptions = () => JSON.parse(process.env.LOREKEEP_BENCH ?? '{}');
