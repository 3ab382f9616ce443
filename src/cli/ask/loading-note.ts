import { note } from '../output.js';

/** A wait longer than this is explained, in ms. */
const quietMs = 1000;

const text =
  'lorekeep: loading the language model; its first use on a machine also measures which runtime is faster';

/** Says on stderr, once, why the first reply takes long. */
export class LoadingNote {
  #done: boolean;

  constructor({ json }: { json?: boolean | undefined }) {
    this.#done = json === true;
  }

  /** Returns the result of `work`, and explains a long wait for it. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    const stop = this.start();
    try {
      return await work;
    } finally {
      stop();
    }
  }

  /** Explains the wait until the result is called. */
  start(): () => void {
    if (this.#done) return () => {};
    const timer = setTimeout(() => {
      this.#done = true;
      note(text);
    }, quietMs);
    return () => clearTimeout(timer);
  }
}
