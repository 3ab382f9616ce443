import type { VoiceEvent } from '../../lib/internal.js';

/** Samples per ms at the rate of a detector's results. */
export const perMs = 16;

/** Before a segment is told, its beginning may be this far back. */
export const keptMs = 2000;

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

  /** Drops audio before the running segment, or all but the latest if there is none. */
  forget(): void {
    const needed = Math.floor((this.#segment ?? this.endMs - keptMs) * perMs);
    // Seldom, because the rest is moved.
    if (needed - this.#first < perMs * keptMs) return;
    const dropped = Math.min(needed - this.#first, this.#length);
    this.#first += dropped;
    this.#move(dropped, this.#length - dropped + perMs * keptMs);
  }

  #move(from: number, capacity: number): void {
    const moved = new Float32Array(capacity);
    moved.set(this.#samples.subarray(from, this.#length));
    this.#length -= from;
    this.#samples = moved;
  }
}
