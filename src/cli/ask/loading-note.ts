import { note } from '../output.js';

/** A wait longer than this is explained, in ms. */
const quietMs = 1000;

const ofLanguageModel =
  'lorekeep: loading the language model; its first use on a machine also measures which runtime is faster';

/** Says on stderr, once, why the first reply, or the first step of other work, takes long. */
export class LoadingNote {
  readonly #text: string;
  #done: boolean;

  constructor({ json }: { json?: boolean | undefined }, text = ofLanguageModel) {
    this.#text = text;
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
      note(this.#text);
    }, quietMs);
    return () => clearTimeout(timer);
  }
}
