/** Seeds are integers in [0, seeds). */
export const seeds: number = 2 ** 32;

/** A seeded random sequence (splitmix32). A seed gives the same sequence in every version. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns an integer in [0, count), nearly uniformly distributed. */
  below(count: number): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return Math.floor((((mixed ^ (mixed >>> 16)) >>> 0) / seeds) * count);
  }
}
