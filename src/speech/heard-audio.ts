import type { VoiceEvent, VoiceOptions } from '../../lib/internal.js';

/** Samples per ms at the rate of a detector's results. */
export const perMs = 16;

/** Least audio that is kept without a segment, in ms. The default settings need less. */
const leastKeptMs = 2000;

/** The settings that say how far back the beginning of a segment may be when it is told. */
type Before = Partial<Pick<VoiceOptions, 'minSpeechMs' | 'minSilenceMs' | 'paddingMs'>>;

/** Longer than the detector's windows, and how late it answers. */
const slackMs = 500;

/** Audio that is kept without a segment, in ms. */
export const keptMs = ({ minSpeechMs = 0, minSilenceMs = 0, paddingMs = 0 }: Before): number =>
  // Speech that is too short may go on after a pause.
  Math.max(leastKeptMs, minSpeechMs + minSilenceMs + paddingMs + slackMs);

/** Room beyond what is kept, so that few appends move it. */
const growth = 1.5;

/** The audio from the beginning of the running segment on, at the rate of a detector's results. */
export class HeardAudio {
  /** The kept samples, and room for more. */
  #samples = new Float32Array(0);
  #length = 0;
  /** Number of the first sample that is kept. */
  #first = 0;
  #segment: number | undefined;
  /** Audio from here on is kept, too, in ms. */
  neededFromMs: number | undefined;
  readonly #keptMs: number;

  constructor(settings: Before = {}) {
    this.#keptMs = keptMs(settings);
  }

  /** Milliseconds that were heard. */
  get endMs(): number {
    return (this.#first + this.#length) / perMs;
  }

  append(samples: Float32Array): void {
    const length = this.#length + samples.length;
    if (length > this.#samples.length) this.#move(0, Math.ceil(growth * length));
    this.#samples.set(samples, this.#length);
    this.#length = length;
  }

  /** Keeps the audio of a segment until it has ended. */
  note(event: VoiceEvent): void {
    this.#segment = event.kind === 'started' ? event.audioBeginMs : undefined;
  }

  between(beginMs: number, endMs: number): Float32Array {
    const place = (ms: number) => Math.max(0, Math.min(this.#length, Math.round(ms * perMs) - this.#first));
    return this.#samples.slice(place(beginMs), place(endMs));
  }

  /** Drops audio before the running segment, or all but the latest if there is none; what is needed stays. */
  forget(): void {
    const segment = this.#segment ?? this.endMs - this.#keptMs;
    const needed = Math.floor(Math.min(segment, this.neededFromMs ?? segment) * perMs);
    // Seldom, because the rest is moved.
    if (needed - this.#first < perMs * this.#keptMs) return;
    const dropped = Math.min(needed - this.#first, this.#length);
    this.#first += dropped;
    this.#move(dropped, this.#length - dropped + perMs * this.#keptMs);
  }

  #move(from: number, capacity: number): void {
    const moved = new Float32Array(capacity);
    moved.set(this.#samples.subarray(from, this.#length));
    this.#length -= from;
    this.#samples = moved;
  }
}
