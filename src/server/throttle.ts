/** A client that sends nothing for this long no longer throttles. */
const silenceMs = 10_000;

/** The throttle reports of one client. */
export interface ThrottleReports {
  report(level: number): void;
  /** Tells that the client sent something. */
  heard(): void;
  /** Tells that the connection has ended. */
  end(): void;
}

/** The highest throttle level that clients report. Each report counts until the next one, until silence, or the end. */
export class Throttle {
  readonly #apply: (level: number) => void;
  readonly #silenceMs: number;
  readonly #levels = new Map<ThrottleReports, number>();
  #level = 0;

  /** `apply` is called with the highest level whenever it changes. */
  constructor(apply: (level: number) => void, silence = silenceMs) {
    this.#apply = apply;
    this.#silenceMs = silence;
  }

  /** The highest level, 0 to 1. */
  get level(): number {
    return this.#level;
  }

  /** Number of clients that report a level above 0. */
  get reporting(): number {
    return this.#levels.size;
  }

  /** `expires`: silence ends a report. */
  join(expires = true): ThrottleReports {
    let silence: NodeJS.Timeout | undefined;
    let ended = false;
    const set = (level: number) => {
      clearTimeout(silence);
      silence = level > 0 && expires ? setTimeout(() => set(0), this.#silenceMs).unref() : undefined;
      if (level > 0) this.#levels.set(reports, level);
      else this.#levels.delete(reports);
      this.#update();
    };
    const reports: ThrottleReports = {
      report: (level) => {
        if (!ended) set(level);
      },
      heard: () => silence?.refresh(),
      end: () => {
        ended = true;
        set(0);
      },
    };
    return reports;
  }

  #update(): void {
    const highest = Math.max(0, ...this.#levels.values());
    if (highest === this.#level) return;
    this.#level = highest;
    this.#apply(highest);
  }
}
