import type { VoiceEnded, VoiceEvent } from '../../lib/internal.js';

/** Audio that is recognised together at most, in ms: Whisper hears 30 s at once, and has some silence before. */
const mostTogetherMs = 28_000;

/** A longer pause separates segments. */
const mostPauseMs = 2000;

/**
 * Segments that wait for others, to be recognised together: Whisper's encoder takes as long for a short clip as for a window of 30 s,
 * and words are recognised better in their context. Which segments are together depends on the audio alone, not on its pieces.
 */
export class WaitingSegments {
  readonly #together: boolean;
  /** A segment is told at most so long after its begin. */
  readonly #latestMs: number;
  #segments: VoiceEnded[] = [];
  #isRunning = false;

  constructor({ together, latestMs }: { together: boolean; latestMs: number }) {
    this.#together = together;
    this.#latestMs = latestMs;
  }

  /** Begin of their audio; undefined if none waits. */
  get beginMs(): number | undefined {
    return this.#segments[0]?.audioBeginMs;
  }

  /** Takes the next event of a detector. Returns segments to be recognised. */
  next(event: VoiceEvent): VoiceEnded[] {
    this.#isRunning = event.kind === 'started';
    if (event.kind === 'started') return this.#pauseBefore(event.beginMs) > mostPauseMs ? this.rest() : [];
    const { audioBeginMs, audioEndMs } = event;
    const full = audioEndMs - (this.beginMs ?? audioBeginMs) > mostTogetherMs ? this.rest() : [];
    this.#segments.push(event);
    return this.#together ? full : this.rest();
  }

  /** Takes the end of the audio so far. Returns segments after which there is a long pause. */
  heard(endMs: number): VoiceEnded[] {
    const isAlone = !this.#isRunning && this.#pauseBefore(endMs) > mostPauseMs + this.#latestMs;
    return isAlone ? this.rest() : [];
  }

  /** Returns those that wait. */
  rest(): VoiceEnded[] {
    return this.#segments.splice(0);
  }

  #pauseBefore(ms: number): number {
    return ms - (this.#segments.at(-1)?.endMs ?? ms);
  }
}
