import type { NativeCancelToken, NativeHandle } from './handle.js';

/** Facts about a loaded model that detects voice. */
export interface VoiceDetectorFacts {
  readonly name: string;
  /** Of the weights: `6.2.0`. */
  readonly version: string;
  /** Hexadecimal; unique per model file. */
  readonly fingerprint: string;
  readonly sizeBytes: number;
}

/** Facts about a loaded model that recognises speech. */
export interface SpeechRecogniserFacts {
  /** Size and kind: `tiny.en`. */
  readonly name: string;
  /** Hexadecimal; unique per model file. */
  readonly fingerprint: string;
  /** Whether it knows more languages than English. */
  readonly multilingual: boolean;
  readonly parameters: number;
  readonly sizeBytes: number;
}

export interface NativeVoiceEvent {
  kind: 'started' | 'ended';
  begin: number;
  end?: number;
  audioBegin: number;
  audioEnd?: number;
  probability: number;
  cut?: true;
}

export interface NativeVoiceResult {
  probabilities: Float32Array;
  events: NativeVoiceEvent[];
  samples: Float32Array;
}

export interface NativeVoiceSettings {
  rate: number;
  channels: number;
  threshold: number;
  endThreshold: number;
  minSpeechMs: number;
  minSilenceMs: number;
  paddingMs: number;
  maxSegmentMs: number;
}

export interface NativeVoiceStream extends NativeHandle {
  push(samples: Float32Array, cancel: NativeCancelToken | undefined): Promise<NativeVoiceResult>;
  finish(cancel: NativeCancelToken | undefined): Promise<NativeVoiceResult>;
}

export interface NativeVoiceDetector extends NativeHandle {
  readonly facts: VoiceDetectorFacts;
  stream(settings: NativeVoiceSettings): NativeVoiceStream;
}

/**
 * A word with its punctuation; in Chinese, Japanese, Thai, Lao and Burmese a token of whole characters. Times are milliseconds since
 * the beginning of the samples.
 */
export interface SpeechWord {
  readonly text: string;
  readonly beginMs: number;
  readonly endMs: number;
  /** In (0, 1]: the geometric mean over the word's tokens. */
  readonly probability: number;
}

/** What was said. */
export interface RecognisedSpeech {
  /** Empty if there is no speech. */
  readonly text: string;
  /** ISO 639-1, as `en`. */
  readonly language: string;
  /** In [0, 1]: the geometric mean over all tokens; 0 without any. */
  readonly probability: number;
  readonly words: readonly SpeechWord[];
  /** Tokens of the model's vocabulary, without special ones. */
  readonly tokens: Int32Array;
}

export interface NativeRecogniser extends NativeHandle {
  readonly facts: SpeechRecogniserFacts;
  recognise(
    samples: Float32Array,
    options: {
      language: string;
      prompt: string;
      terms: readonly string[];
      translate: boolean;
      beams: number;
      /** Index into consumerClasses. */
      class: number;
    },
    cancel: NativeCancelToken | undefined,
    progress: ((fraction: number) => void) | undefined,
  ): Promise<RecognisedSpeech>;
}
