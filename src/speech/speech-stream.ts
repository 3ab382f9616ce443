import type { RecognisedSpeech, VoiceEvent, VoiceResult } from '../../lib/internal.js';
import { HeardAudio } from './heard-audio.js';
import { type PauseSettings, Pauses } from './pauses.js';
import { type DueText, SegmentTexts, type SpanText } from './segment-texts.js';

/** A stream of a detector: VoiceStream of the library. */
export interface Voice {
  push(samples: Float32Array, options: { signal: AbortSignal }): Promise<VoiceResult>;
  finish(options: { signal: AbortSignal }): Promise<VoiceResult>;
  close(): Promise<void>;
}

/** What happens in a stream. Times are milliseconds since its beginning. */
export type SpeechEvent =
  | {
      readonly kind: 'started';
      readonly segment: number;
      readonly beginMs: number;
      readonly probability: number;
    }
  | {
      readonly kind: 'ended';
      readonly segment: number;
      readonly beginMs: number;
      readonly endMs: number;
      readonly probability: number;
      readonly cut: boolean;
      /** At 16 kHz. */
      readonly samples: Float32Array;
      /** The pause that ended it, in ms. */
      readonly silenceMs: number;
    }
  | ({ readonly kind: 'text' } & SpanText);

export interface SpeechStreamOptions {
  /** Opens a stream of the detector: one for each utterance. */
  voice(): Voice;
  readonly settings: PauseSettings & { readonly minSilenceMs: number; readonly paddingMs: number };
  recognise(samples: Float32Array, signal: AbortSignal): Promise<RecognisedSpeech>;
  /** Whether there is text while somebody speaks. */
  readonly partial: boolean;
  tell(event: SpeechEvent): void;
  failed(error: unknown): void;
  readonly signal: AbortSignal;
}

/** Audio between two texts of a running segment without a pause, in ms. */
const partialMs = 1000;

interface Running {
  readonly segment: number;
  readonly beginMs: number;
  readonly audioBeginMs: number;
  /** End of the audio whose text was begun last. */
  partialMs: number;
}

/**
 * Finds speech in a stream of audio, and its text. The events of a segment come in order: started, texts that are not final,
 * ended, final text. Another segment may start before the final text of the one before. One call at a time.
 */
export class SpeechStream {
  readonly #options: SpeechStreamOptions;
  readonly #heard: HeardAudio;
  readonly #texts: SegmentTexts;
  #voice: Voice;
  #pauses: Pauses;
  /** Begin of the detector's stream. */
  #offsetMs = 0;
  #segments = 0;
  #running: Running | undefined;

  constructor(options: SpeechStreamOptions) {
    this.#options = options;
    const { recognise, failed, signal, tell, settings } = options;
    this.#heard = new HeardAudio(settings);
    this.#voice = options.voice();
    this.#pauses = this.#newPauses();
    this.#texts = new SegmentTexts({
      recognise,
      failed,
      signal,
      due: () => this.#duePartial(),
      tell: (text) => tell({ kind: 'text', ...text }),
    });
  }

  /** Milliseconds of audio that were heard. */
  get heardMs(): number {
    return this.#heard.endMs;
  }

  /** Takes audio. Resolves when more may come: texts are computed meanwhile. @throws the signal's reason; as Voice.push() */
  async hear(samples: Float32Array): Promise<void> {
    const { signal } = this.#options;
    this.#take(await this.#voice.push(samples, { signal }));
    this.#texts.work();
    await this.#texts.hasRoom();
  }

  /** Ends the running segment, and resolves when every segment has its text. More audio may follow. @throws as hear() */
  async endUtterance(): Promise<void> {
    const { voice, signal } = this.#options;
    this.#take(await this.#voice.finish({ signal }));
    await this.#voice.close();
    this.#offsetMs = this.#heard.endMs;
    this.#pauses = this.#newPauses();
    this.#voice = voice();
    await this.#texts.settled();
  }

  /** Frees the detector's stream. */
  close(): Promise<void> {
    return this.#voice.close();
  }

  #newPauses(): Pauses {
    return new Pauses(this.#options.settings);
  }

  #take({ events, samples, probabilities }: VoiceResult): void {
    this.#heard.append(samples);
    this.#pauses.next(probabilities);
    for (const event of events) this.#note(this.#placed(event));
    this.#heard.forget();
  }

  #placed(event: VoiceEvent): VoiceEvent {
    const offset = this.#offsetMs;
    const begin = { beginMs: offset + event.beginMs, audioBeginMs: offset + event.audioBeginMs };
    if (event.kind === 'started') return { ...event, ...begin };
    return { ...event, ...begin, endMs: offset + event.endMs, audioEndMs: offset + event.audioEndMs };
  }

  #note(event: VoiceEvent): void {
    const { tell } = this.#options;
    const { beginMs, audioBeginMs, probability } = event;
    this.#heard.note(event);
    if (event.kind === 'started') {
      const segment = ++this.#segments;
      this.#running = { segment, beginMs, audioBeginMs, partialMs: audioBeginMs };
      tell({ kind: 'started', segment, beginMs, probability });
      return;
    }
    const { endMs, audioEndMs, cut } = event;
    const segment = this.#segments;
    this.#running = undefined;
    const samples = this.#heard.between(audioBeginMs, audioEndMs);
    const silenceMs = cut ? 0 : Math.max(0, this.#heard.endMs - endMs);
    tell({ kind: 'ended', segment, beginMs, endMs, probability, cut, samples, silenceMs });
    this.#texts.add({ segment, beginMs, endMs, audioBeginMs, audioEndMs, samples });
  }

  /** In a pause the audio until its begin, which is the whole segment if nobody speaks again; else after each second. */
  #duePartial(): DueText | undefined {
    const running = this.#running;
    if (running === undefined || !this.#options.partial) return undefined;
    const { segment, beginMs, audioBeginMs } = running;
    const pause = this.#pauses.beginMs;
    const pauseEnd =
      pause === undefined ? undefined : this.#offsetMs + pause + this.#options.settings.paddingMs;
    const endMs = pauseEnd ?? this.#heard.endMs;
    const isDue =
      pauseEnd === undefined
        ? endMs - running.partialMs >= partialMs && this.#texts.mayGoOn
        : endMs > running.partialMs && endMs <= this.#heard.endMs;
    if (!isDue) return undefined;
    const begin = () => {
      running.partialMs = endMs;
      const samples = this.#heard.between(audioBeginMs, endMs);
      return { segment, beginMs, endMs, audioBeginMs, audioEndMs: endMs, samples };
    };
    return { inPause: pause !== undefined, begin };
  }
}
