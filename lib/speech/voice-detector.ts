import { integerArgument, numberArgument, refuse, stringArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { translateError } from '../boundary/errors.js';
import { Handle } from '../boundary/handle.js';
import type {
  NativeVoiceDetector,
  NativeVoiceEvent,
  NativeVoiceResult,
  NativeVoiceSettings,
  NativeVoiceStream,
  VoiceDetectorFacts,
} from '../boundary/native/speech.js';
import { type CallOptions, callNative, describe } from '../boundary/native-call.js';

export type { VoiceDetectorFacts } from '../boundary/native/speech.js';

/** Samples per second of everything that a stream gives out. */
export const speechRate = 16_000;

/** Where speech begins and ends, and how audio comes in. */
export interface VoiceOptions {
  /** Samples per second of the audio, 8,000 to 48,000. Default 16,000. */
  rate?: number | undefined;
  /** Interleaved channels, 1 to 8, whose mean is heard. Default 1. */
  channels?: number | undefined;
  /** Probability from which a window of 32 ms is speech, above 0 and at most 1. Default .5. */
  threshold?: number | undefined;
  /** Probability below which a window of speech is silence, at most `threshold`. Default: `threshold` - .15. */
  endThreshold?: number | undefined;
  /** Shorter speech is no segment, in ms. Default 250. */
  minSpeechMs?: number | undefined;
  /** Shorter pauses end no segment, in ms. Default 400. */
  minSilenceMs?: number | undefined;
  /** Audio before and after a segment that belongs to it for a recogniser, in ms. Default 160. */
  paddingMs?: number | undefined;
  /**
   * A longer segment is cut at its longest pause, or where speech is least probable, in ms, at least 1,000. Default 30,000.
   */
  maxSegmentMs?: number | undefined;
}

/** A change between silence and speech. Times are milliseconds since the beginning of the stream. */
export type VoiceEvent = VoiceStarted | VoiceEnded;

export interface VoiceStarted {
  readonly kind: 'started';
  /** Where speech begins. */
  readonly beginMs: number;
  /** Where the audio for a recogniser begins: `paddingMs` earlier, but not in another segment's. */
  readonly audioBeginMs: number;
  /** Mean over the windows of the segment so far. */
  readonly probability: number;
}

export interface VoiceEnded {
  readonly kind: 'ended';
  readonly beginMs: number;
  /** Where speech ends. */
  readonly endMs: number;
  readonly audioBeginMs: number;
  /** Where the audio for a recogniser ends: `paddingMs` after the last sound that may be speech. */
  readonly audioEndMs: number;
  /** Mean over the windows of the segment. */
  readonly probability: number;
  /** The segment reached `maxSegmentMs`: speech goes on in the next one. */
  readonly cut: boolean;
}

export interface VoiceResult {
  /** The probability of speech in each window of 32 ms that is complete by now. */
  readonly probabilities: Float32Array;
  /** In the order of their times. */
  readonly events: readonly VoiceEvent[];
  /** The audio that came in, mono at 16 kHz. */
  readonly samples: Float32Array;
}

/** Silero VAD on the CPU: finds speech in audio. Streams share the model. */
export class VoiceDetector extends Handle<NativeVoiceDetector> {
  /**
   * Loads a model file of whisper.cpp's format (`ggml-silero-v6.2.0.bin`) after checking it.
   * @throws NOT_FOUND, IO, MODEL_INVALID, CANCELLED
   */
  static async load(path: string, options: CallOptions = {}): Promise<VoiceDetector> {
    const file = stringArgument('path', path);
    return callNative(
      options.signal,
      async (cancel) => new VoiceDetector(await binding.loadVoiceDetector(file, {}, cancel, undefined)),
    );
  }

  get facts(): VoiceDetectorFacts {
    return this.read((native) => native.facts);
  }

  /** Opens a stream of audio. Close it. @throws INVALID_ARGUMENT that names an option outside its range */
  stream(options: VoiceOptions = {}): VoiceStream {
    const settings = nativeSettings(options);
    try {
      return new VoiceStream(this.handle.stream(settings));
    } catch (error) {
      throw translateError(error);
    }
  }
}

/** One stream of audio. Its results do not depend on how the audio is cut into calls. One call at a time. */
export class VoiceStream extends Handle<NativeVoiceStream> {
  /** @internal */
  constructor(native: NativeVoiceStream) {
    super(native);
  }

  /**
   * Takes the next samples: floats in [-1, 1], or 16-bit integers. Values that are no numbers count as silence. A call that is
   * cancelled ends the stream.
   * @throws INVALID_ARGUMENT (half a frame, after finish(), while another call runs), CANCELLED, CLOSED
   */
  async push(samples: Float32Array | Int16Array, options: CallOptions = {}): Promise<VoiceResult> {
    const floats = floatSamples(samples);
    return fromNative(await this.run(options.signal, (native, cancel) => native.push(floats, cancel)));
  }

  /** Ends the stream: speech that runs ends with it. @throws as push() */
  async finish(options: CallOptions = {}): Promise<VoiceResult> {
    return fromNative(await this.run(options.signal, (native, cancel) => native.finish(cancel)));
  }
}

/** Returns samples as floats in [-1, 1]. @throws INVALID_ARGUMENT */
export function floatSamples(samples: unknown): Float32Array {
  if (samples instanceof Float32Array) return samples;
  if (samples instanceof Int16Array) return Float32Array.from(samples, (value) => value / 32_768);
  return refuse('samples', `a Float32Array or an Int16Array is expected, not ${describe(samples)}`);
}

const longestMs = 600_000;

function nativeSettings(options: VoiceOptions): NativeVoiceSettings {
  const threshold = numberArgument('threshold', options.threshold, 0.5, 0, 1, true);
  const ms = (name: 'minSpeechMs' | 'minSilenceMs' | 'paddingMs', fallback: number) =>
    integerArgument(name, options[name], fallback, 0, longestMs);
  return {
    rate: integerArgument('rate', options.rate, speechRate, 8000, 48_000),
    channels: integerArgument('channels', options.channels, 1, 1, 8),
    threshold,
    endThreshold: numberArgument(
      'endThreshold',
      options.endThreshold,
      Math.max(0, threshold - 0.15),
      0,
      threshold,
    ),
    minSpeechMs: ms('minSpeechMs', 250),
    minSilenceMs: ms('minSilenceMs', 400),
    paddingMs: ms('paddingMs', 160),
    maxSegmentMs: integerArgument('maxSegmentMs', options.maxSegmentMs, 30_000, 1000, longestMs),
  };
}

const toMs = (samples: number) => (samples * 1000) / speechRate;

function fromNative({ probabilities, events, samples }: NativeVoiceResult): VoiceResult {
  return {
    probabilities,
    samples,
    events: events.map(eventOf),
  };
}

function eventOf(event: NativeVoiceEvent): VoiceEvent {
  const { kind, begin, end = 0, audioBegin, audioEnd = 0, probability, cut = false } = event;
  const started = { beginMs: toMs(begin), audioBeginMs: toMs(audioBegin), probability };
  return kind === 'started'
    ? { kind, ...started }
    : { kind, ...started, endMs: toMs(end), audioEndMs: toMs(audioEnd), cut };
}
