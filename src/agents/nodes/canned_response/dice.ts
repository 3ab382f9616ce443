/** Seeds are integers from 0, below this. */
export const seeds: number = 2 ** 32;

/** A sequence of numbers that its seed decides (splitmix32). The same seed gives the same sequence in every version. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An integer from 0, below `count`; about equally likely each. */
  below(count: number): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return Math.floor((((mixed ^ (mixed >>> 16)) >>> 0) / seeds) * count);
  }
}
