import type { KnowledgeProgress } from '../progress.js';

/** Time between two notes. */
const noteMs = 2000;

/** Writes down now and then how far a run has come, so that other processes can say it. A note that cannot be written is dropped. */
export class ProgressNotes {
  readonly #write: (progress: KnowledgeProgress) => Promise<void>;
  #last = performance.now();
  #writing: Promise<void> | undefined;
  #ended = false;

  constructor(write: (progress: KnowledgeProgress) => Promise<void>) {
    this.#write = write;
  }

  take(progress: KnowledgeProgress): void {
    const now = performance.now();
    if (this.#ended || this.#writing !== undefined || progress.phase !== 'embed' || now - this.#last < noteMs)
      return;
    this.#last = now;
    this.#writing = this.#write(progress)
      .catch(() => {})
      .finally(() => {
        this.#writing = undefined;
      });
  }

  /** Writes no more, and waits for the last note. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#writing;
  }
}
