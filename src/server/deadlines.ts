/** Time limits of a client, in ms. */
export interface DeadlineLimits {
  /** From the first byte of a frame to its last, while the server reads. */
  readonly frameMs: number;
  /** For reading the replies above `unsentBytes`; then the client is dropped. */
  readonly stallMs: number;
  /** Silence of a connection without a session; 0: unlimited. */
  readonly idleMs: number;
}

/** Called when a client exceeds a limit. */
export interface DeadlineEvents {
  /** The client has not read its replies. */
  stalled(): void;
  /** The client has not finished a frame. */
  unfinished(): void;
  /** The client was silent. Returns whether it may be silent for another period. */
  silent(): boolean;
}

/** The timers of one connection. */
export class Deadlines {
  readonly #limits: DeadlineLimits;
  readonly #events: DeadlineEvents;
  #stall: NodeJS.Timeout | undefined;
  #frame: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** When the client sent something last. */
  #heardAt = 0;

  constructor(limits: DeadlineLimits, events: DeadlineEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#watchSilence();
  }

  /** The client sent something. */
  heard(): void {
    if (this.#idle !== undefined) this.#heardAt = performance.now();
  }

  /** The client's unread replies exceed the limit. From now on only replies under way are added. */
  unread(): void {
    this.#stall ??= setTimeout(() => this.#events.stalled(), this.#limits.stallMs);
  }

  /** The client has read everything. */
  read(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  /** The server waits for the rest of a frame. */
  frameBegun(): void {
    this.#frame ??= setTimeout(() => {
      // Data that arrived while the event loop was busy is read first.
      setImmediate(() => {
        if (this.#frame === undefined) return;
        this.frameEnded();
        this.#events.unfinished();
      });
    }, this.#limits.frameMs);
  }

  /** No frame is unfinished, or the server does not read. There is no limit between frames. */
  frameEnded(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
  }

  end(): void {
    this.read();
    this.frameEnded();
    clearTimeout(this.#idle);
  }

  #watchSilence(): void {
    const { idleMs } = this.#limits;
    if (idleMs === 0) return;
    this.#heardAt = performance.now();
    const watch = (ms: number) => {
      this.#idle = setTimeout(() => {
        // One timer per period instead of one per received chunk.
        const left = this.#heardAt + idleMs - performance.now();
        if (left > 0) watch(Math.ceil(left));
        else if (this.#events.silent()) this.#watchSilence();
      }, ms);
    };
    watch(idleMs);
  }
}
