/** Longest times in ms that a client may take. */
export interface DeadlineLimits {
  /** From the first byte of a frame to the last, while the server reads. */
  readonly frameMs: number;
  /** To read everything above `unsentBytes`, before the client is dropped. */
  readonly stallMs: number;
  /** Silence of a connection without a session; 0: unlimited. */
  readonly idleMs: number;
}

/** Called when a client is late. */
export interface DeadlineEvents {
  /** It has not read its replies. */
  stalled(): void;
  /** It has not finished a frame. */
  unfinished(): void;
  /** It was silent. Returns whether it may stay silent for another period. */
  silent(): boolean;
}

/** The timers of one connection. */
export class Deadlines {
  readonly #limits: DeadlineLimits;
  readonly #events: DeadlineEvents;
  #stall: NodeJS.Timeout | undefined;
  #frame: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: DeadlineLimits, events: DeadlineEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#watchSilence();
  }

  /** The client sent something. */
  heard(): void {
    this.#idle?.refresh();
  }

  /** Replies that the client has not read are too long. Meanwhile only replies under way are added. */
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

  /** No frame is unfinished, or the server does not read: there is no limit between frames. */
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
    this.#idle = setTimeout(() => {
      if (this.#events.silent()) this.#watchSilence();
    }, idleMs);
  }
}
