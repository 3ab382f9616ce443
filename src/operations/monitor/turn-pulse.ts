import type { TurnFacts } from '../../agents/turn-facts.js';
import type { Pulse } from './state.js';

const minutesKept = 60;
const minuteMs = 60_000;

/** Durations are counted by their logarithm: a step is 10 %, and the last one is beyond a day. */
const step = Math.log(1.1);
const steps = 200;

interface Minute {
  /** Minutes since 1970. */
  readonly at: number;
  turns: number;
  failed: number;
  cancelled: number;
  tokens: number;
  readonly durations: Uint32Array;
}

/** Counts the turns of the last hour, whatever the number of turns that are kept. */
export class TurnPulse {
  /** Oldest first; minutes without a turn are left out. */
  readonly #minutes: Minute[] = [];
  readonly #now: () => number;

  /** `now`: ms since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  add({ status, queuedMs, durationMs, nodes }: TurnFacts): void {
    const minute = this.#minute();
    minute.turns++;
    if (status === 'failed') minute.failed++;
    if (status === 'cancelled') minute.cancelled++;
    for (const { completion_tokens } of nodes)
      if (typeof completion_tokens === 'number') minute.tokens += completion_tokens;
    const place = Math.min(
      steps - 1,
      Math.max(0, Math.ceil(Math.log(Math.max(1, queuedMs + durationMs)) / step)),
    );
    (minute.durations[place] as number)++;
  }

  get pulse(): Pulse {
    const newest = this.#drop();
    const sum = (key: 'turns' | 'failed' | 'cancelled' | 'tokens') =>
      this.#minutes.reduce((all, minute) => all + minute[key], 0);
    const byMinute = new Map(this.#minutes.map((minute) => [minute.at, minute]));
    return {
      ...{ turns: sum('turns'), failed: sum('failed'), cancelled: sum('cancelled'), tokens: sum('tokens') },
      ...{ p50: this.#quantile(0.5), p95: this.#quantile(0.95) },
      minutes: Array.from({ length: minutesKept }, (_, index) => {
        const { turns = 0, failed = 0 } = byMinute.get(newest - minutesKept + 1 + index) ?? {};
        return { turns, failed };
      }),
    };
  }

  #minute(): Minute {
    const at = this.#drop();
    const last = this.#minutes.at(-1);
    if (last?.at === at) return last;
    const minute = { at, turns: 0, failed: 0, cancelled: 0, tokens: 0, durations: new Uint32Array(steps) };
    this.#minutes.push(minute);
    return minute;
  }

  /** Drops what is older than an hour. Returns the present minute. */
  #drop(): number {
    const at = Math.floor(this.#now() / minuteMs);
    while (this.#minutes[0] !== undefined && this.#minutes[0].at <= at - minutesKept) this.#minutes.shift();
    return at;
  }

  #quantile(share: number): number {
    const all = this.#minutes.reduce((sum, { turns }) => sum + turns, 0);
    let left = Math.ceil(all * share);
    for (let place = 0; place < steps && left > 0; place++) {
      for (const { durations } of this.#minutes) left -= durations[place] as number;
      if (left <= 0) return Math.exp(place * step);
    }
    return 0;
  }
}
