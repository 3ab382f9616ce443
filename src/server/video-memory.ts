/** The request of one client. */
export interface VideoMemoryWish {
  /** Resolves when models have left the GPU, if they must. */
  allow(allowed: boolean): Promise<void>;
  /** Tells that the connection has ended. */
  end(): void;
}

/** Whether models may use the GPU: unless a client needs its memory. */
export class VideoMemory {
  readonly #apply: (allowed: boolean) => Promise<void>;
  readonly #refusing = new Set<VideoMemoryWish>();
  /** The last change; changes follow each other. */
  #changing: Promise<void> = Promise.resolve();
  #allowed = true;

  /** `apply` is called whenever it changes; it resolves when the memory is free. */
  constructor(apply: (allowed: boolean) => Promise<void>) {
    this.#apply = apply;
  }

  get allowed(): boolean {
    return this.#allowed;
  }

  join(): VideoMemoryWish {
    const wish: VideoMemoryWish = {
      allow: (allowed) => {
        if (allowed) this.#refusing.delete(wish);
        else this.#refusing.add(wish);
        return this.#update();
      },
      end: () => {
        this.#refusing.delete(wish);
        // Nobody waits for it, and models that cannot be loaded again say so to those who use them.
        this.#update().catch(() => {});
      },
    };
    return wish;
  }

  #update(): Promise<void> {
    const allowed = this.#refusing.size === 0;
    if (allowed === this.#allowed) return this.#changing;
    this.#allowed = allowed;
    this.#changing = this.#changing.catch(() => {}).then(() => this.#apply(allowed));
    return this.#changing;
  }
}
