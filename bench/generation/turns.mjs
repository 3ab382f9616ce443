// Measurements in turns: every contestant does each measurement of a round before the next one begins, so that a neighbour who takes the
// processor for a while spoils a round and not the result.
import { median } from '../harness/numbers.mjs';

export class Turns {
  #contestants;
  #limitSeconds;
  #results;

  /** @param limitSeconds of a call, by default the contestants' own limit */
  constructor(contestants, limitSeconds) {
    this.#contestants = contestants;
    this.#limitSeconds = limitSeconds;
    this.#results = new Map(contestants.names.map((name) => [name, new Map()]));
  }

  /** One turn of each: `id` names the measurement, `work(ask, name)` does it. @param who names of the contestants, all by default */
  async each(id, work, who = this.#contestants.names) {
    for (const name of who.filter((one) => this.#contestants.has(one))) {
      const ask = (method, argument) => this.#contestants.call(name, method, argument, this.#limitSeconds);
      const result = await work(ask, name);
      if (result === undefined) continue; // it failed, which is noted
      const list = this.#results.get(name).get(id) ?? [];
      this.#results.get(name).set(id, [...list, result]);
    }
  }

  get names() {
    return [...this.#results.keys()];
  }

  list(name, id) {
    return this.#results.get(name)?.get(id) ?? [];
  }

  /** The median of get(result); undefined if it was not measured. */
  median(name, id, get = (result) => result) {
    const list = this.list(name, id);
    return list.length > 0 ? median(list.map(get)) : undefined;
  }

  /** The median over the rounds of what `name` has relative to `other`. */
  ratio(name, other, id, get = (result) => result) {
    const [list, others] = [this.list(name, id), this.list(other, id)];
    const rounds = Math.min(list.length, others.length);
    if (rounds === 0) return undefined;
    return median(list.slice(0, rounds).map((each, i) => get(each) / get(others[i])));
  }
}
