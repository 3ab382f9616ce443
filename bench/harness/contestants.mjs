// The contestants of one trial: ours first, then the peers. Who can't be loaded is left out, who fails on the way is dropped; both
// with the reason, which becomes part of the result.
import { Contestant, Unavailable } from './contestant.mjs';

export class Contestants {
  #alive = [];
  /** [{name, reason}] */
  leftOut = [];
  failed = [];

  /** @param list [{name, module, options?, env?, peer?}]; what is not a peer's must load, or the trial fails */
  static async start(list) {
    const contestants = new Contestants();
    for (const { name, module, options, env, peer = true } of list) {
      const contestant = new Contestant(name, module, options, env);
      try {
        await contestant.started;
        contestants.#alive.push(contestant);
      } catch (error) {
        contestant.end();
        if (!(error instanceof Unavailable) || !peer) {
          contestants.end();
          throw new Error(`${name}: ${error.message}`);
        }
        contestants.leftOut.push({ name, reason: error.message });
        console.log(`${name}: left out, ${error.message}`);
      }
    }
    return contestants;
  }

  get names() {
    return this.#alive.map(({ name }) => name);
  }

  has(name) {
    return this.#alive.some((contestant) => contestant.name === name);
  }

  /** Each in turn: `receive(name, result)`. `argument(name)` gives what it is asked, or undefined to pass it over. */
  async each(method, argument, receive, limitSeconds) {
    for (const { name } of [...this.#alive]) {
      const asked = argument(name);
      if (asked === undefined) continue;
      const result = await this.call(name, method, asked, limitSeconds);
      if (result !== undefined) await receive(name, result);
    }
  }

  /** Undefined when it failed, which is noted; it takes no further part then. */
  async call(name, method, argument, limitSeconds) {
    const contestant = this.#alive.find((one) => one.name === name);
    try {
      return await contestant?.call(method, argument, limitSeconds);
    } catch (error) {
      const reason = String(error.message).split('\n')[0];
      console.log(`${name}: failed, ${reason}`);
      this.failed.push({ name, reason });
      this.drop(name);
      return undefined;
    }
  }

  /** Takes over the contestants of another group. */
  adopt(other) {
    this.#alive.push(...other.#alive);
    this.leftOut.push(...other.leftOut);
  }

  /** It is done: its process ends, and its memory is free. */
  drop(name) {
    this.#alive.find((one) => one.name === name)?.end();
    this.#alive = this.#alive.filter((one) => one.name !== name);
  }

  end() {
    for (const contestant of this.#alive) contestant.end();
    this.#alive = [];
  }
}
