/** Duration of a window of a detector, in ms. */
const windowMs = 32;

/** Finds the running pause in a sequence of probabilities, by the rules by which the detector ends segments. */
export class Pauses {
  readonly #threshold: number;
  readonly #endThreshold: number;
  #windows = 0;
  #begin: number | undefined;

  constructor(threshold: number, endThreshold: number) {
    this.#threshold = threshold;
    this.#endThreshold = endThreshold;
  }

  /** Begin of the pause that runs, in ms since the first window. */
  get beginMs(): number | undefined {
    return this.#begin === undefined ? undefined : this.#begin * windowMs;
  }

  /** Takes the probabilities of the next windows. */
  next(probabilities: Float32Array): void {
    for (const probability of probabilities) {
      if (probability >= this.#threshold) this.#begin = undefined;
      else if (probability < this.#endThreshold) this.#begin ??= this.#windows;
      this.#windows++;
    }
  }
}
