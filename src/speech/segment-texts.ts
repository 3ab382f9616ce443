import { onAbort } from '../../lib/basics.js';
import type { RecognisedSpeech } from '../../lib/internal.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import { perMs } from './heard-audio.js';

/** Audio between two places of a stream. */
export interface Span {
  /** Number of the segment, from 1. */
  readonly segment: number;
  readonly beginMs: number;
  readonly endMs: number;
  /** Of the samples. */
  readonly audioBeginMs: number;
  readonly audioEndMs: number;
  readonly samples: Float32Array;
}

/** The text of a span. */
export interface SpanText extends Omit<Span, 'samples'> {
  readonly final: boolean;
  /** Times of words are relative to `audioBeginMs`. */
  readonly found: RecognisedSpeech;
  /** From the end of the segment to this text, in ms; 0 for a text that is not final. */
  readonly recognitionMs: number;
}

/** A text of the running segment. */
export interface DueText {
  /** Whether it is the text before a pause. */
  readonly inPause: boolean;
  /** Returns its audio. It is not due any more. */
  begin(): Span;
}

interface PartialText {
  readonly span: Span;
  readonly inPause: boolean;
  readonly abort: AbortController;
  found?: RecognisedSpeech;
}

export interface SegmentTextsOptions {
  recognise(samples: Float32Array, signal: AbortSignal): Promise<RecognisedSpeech>;
  /** Returns the text of the running segment that is due; undefined if none is. */
  due(): DueText | undefined;
  tell(text: SpanText): void;
  failed(error: unknown): void;
  signal: AbortSignal;
}

interface Ended extends Span {
  readonly at: number;
}

/** Ended segments that may wait, in ms of audio: until one of them has its text, no more audio is heard. */
export const mostWaitingMs = 10_000;

/** Recognises the segments of one stream in their order, and between them the running segment as far as it is. */
export class SegmentTexts {
  readonly #options: SegmentTextsOptions;
  readonly #ended: Ended[] = [];
  #isWorking = false;
  #waitingMs = 0;
  /** The text that is not final and runs, or was told last. */
  #partial: PartialText | undefined;
  /** When the next one may begin: they take at most half of the time. */
  #restUntil = 0;
  readonly #changed = new Set<() => void>();

  constructor(options: SegmentTextsOptions) {
    this.#options = options;
  }

  /** Takes an ended segment. */
  add(span: Span): void {
    this.#ended.push({ ...span, at: performance.now() });
    this.#waitingMs += span.samples.length / perMs;
    if (this.#partial !== undefined && !isSame(this.#partial.span, span)) this.#partial.abort.abort();
    this.work();
  }

  /** Whether the next text of the running segment may begin without a pause in it. */
  get mayGoOn(): boolean {
    return performance.now() >= this.#restUntil;
  }

  /** Begins the text that is due. One that is under way when a pause begins is cancelled, since the text before the pause replaces it. */
  work(): void {
    if (this.#isWorking) {
      if (this.#partial?.inPause === false && this.#options.due()?.inPause) this.#partial.abort.abort();
      return;
    }
    this.#isWorking = true;
    this.#work().catch((error) => {
      this.#isWorking = false;
      this.#options.failed(error);
      this.#tellChanged();
    });
  }

  /** Resolves when more segments may be added. @throws the signal's reason */
  hasRoom(): Promise<void> {
    return this.#until(() => this.#waitingMs <= mostWaitingMs);
  }

  /** Resolves when all segments have their text. @throws the signal's reason */
  settled(): Promise<void> {
    return this.#until(() => !this.#isWorking);
  }

  async #work(): Promise<void> {
    for (;;) {
      const [ended] = this.#ended;
      if (ended !== undefined) {
        await this.#final(ended);
        this.#ended.shift();
        this.#waitingMs -= ended.samples.length / perMs;
      } else {
        const due = this.#options.due();
        if (due === undefined) break;
        await this.#partially(due);
      }
      this.#tellChanged();
    }
    this.#isWorking = false;
    this.#tellChanged();
  }

  async #final({ at, samples, ...place }: Ended): Promise<void> {
    const { recognise, tell, signal } = this.#options;
    const partial = this.#partial;
    this.#partial = undefined;
    const known = partial && isSame(partial.span, place) ? partial.found : undefined;
    const found = known ?? (await recognise(samples, signal));
    signal.throwIfAborted();
    tell({ ...place, final: true, found, recognitionMs: performance.now() - at });
  }

  async #partially({ inPause, begin }: DueText): Promise<void> {
    const { recognise, tell, signal } = this.#options;
    const abort = new AbortController();
    const stopListening = onAbort(signal, () => abort.abort(signal.reason));
    const span = begin();
    const partial: PartialText = { span, inPause, abort };
    this.#partial = partial;
    const began = performance.now();
    try {
      partial.found = await recognise(span.samples, abort.signal);
    } catch (error) {
      signal.throwIfAborted();
      // The segment has ended meanwhile with more audio, or a pause has begun.
      if (!abort.signal.aborted) throw error;
      return;
    } finally {
      stopListening();
      const now = performance.now();
      this.#restUntil = now + (now - began);
    }
    // The text of a segment that has ended is told as its final one.
    if (abort.signal.aborted || this.#ended.length > 0) return;
    const { samples: _, ...place } = span;
    tell({ ...place, final: false, found: partial.found, recognitionMs: 0 });
  }

  async #until(isSo: () => boolean): Promise<void> {
    const { signal } = this.#options;
    while (!isSo()) {
      let wake = () => {};
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      this.#changed.add(wake);
      await untilAborted(changed, signal).finally(() => this.#changed.delete(wake));
    }
    signal.throwIfAborted();
  }

  #tellChanged(): void {
    for (const wake of this.#changed) wake();
  }
}

type Place = Omit<Span, 'samples'>;

/** Whether two spans have the same audio. */
function isSame(one: Place, other: Place): boolean {
  const { segment, audioBeginMs, audioEndMs } = other;
  return one.segment === segment && one.audioBeginMs === audioBeginMs && one.audioEndMs === audioEndMs;
}
