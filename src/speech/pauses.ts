/** Duration of a window of a detector, in ms. */
const windowMs = 32;

/** Windows of speech that end a pause; a shorter sound, such as a click, does not. As Segmenter in native/speech has it. */
const resumeWindows = 4;

/** Windows below the threshold after which a sound in a pause has ended. */
const gapWindows = 3;

export interface PauseSettings {
  readonly threshold: number;
  readonly endThreshold: number;
  readonly minSpeechMs: number;
}

/** Finds the running pause in a sequence of probabilities, by the rules by which the detector ends segments. */
export class Pauses {
  readonly #threshold: number;
  readonly #endThreshold: number;
  readonly #resume: number;
  #windows = 0;
  #begin: number | undefined;
  /** A sound in the pause: its windows at the threshold, and the window after the last of them. */
  #sound: { count: number; end: number } | undefined;

  constructor({ threshold, endThreshold, minSpeechMs }: PauseSettings) {
    this.#threshold = threshold;
    this.#endThreshold = endThreshold;
    this.#resume = Math.min(resumeWindows, Math.max(1, Math.ceil(minSpeechMs / windowMs)));
  }

  /** Begin of the pause that runs, in ms since the first window. */
  get beginMs(): number | undefined {
    return this.#begin === undefined ? undefined : this.#begin * windowMs;
  }

  /** Takes the probabilities of the next windows. */
  next(probabilities: Float32Array): void {
    for (const probability of probabilities) {
      if (probability >= this.#threshold) this.#hearSpeech();
      else this.#hearSilence(probability);
      this.#windows++;
    }
  }

  #hearSpeech(): void {
    if (this.#begin === undefined) return;
    const count = (this.#sound?.count ?? 0) + 1;
    const resumes = count >= this.#resume;
    this.#sound = resumes ? undefined : { count, end: this.#windows + 1 };
    if (resumes) this.#begin = undefined;
  }

  #hearSilence(probability: number): void {
    if (this.#sound !== undefined && this.#windows + 1 - this.#sound.end >= gapWindows)
      this.#sound = undefined;
    if (probability < this.#endThreshold) this.#begin ??= this.#windows;
  }
}
