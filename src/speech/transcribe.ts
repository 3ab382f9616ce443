import type {
  RecognisedSpeech,
  SpeechRecogniser,
  SpeechWord,
  VoiceDetector,
  VoiceEnded,
  VoiceEvent,
  VoiceOptions,
} from '../../lib/internal.js';
import type { Audio } from './audio.js';
import { HeardAudio } from './heard-audio.js';

/** A piece of speech between two pauses. Times are milliseconds since the beginning of the audio. */
export interface TranscribedSegment {
  readonly beginMs: number;
  readonly endMs: number;
  readonly text: string;
  /** ISO 639-1. */
  readonly language: string;
  readonly probability: number;
  readonly words: readonly SpeechWord[];
}

export interface TranscribeOptions {
  detector: VoiceDetector;
  recogniser: SpeechRecogniser;
  voice?: Omit<VoiceOptions, 'rate' | 'channels'>;
  language?: string | undefined;
  translate?: boolean | undefined;
  prompt?: string | undefined;
  /** Names to expect. */
  terms?: readonly string[] | undefined;
  beams?: number | undefined;
  signal: AbortSignal;
  /** Receives the milliseconds of audio that were heard. */
  onProgress?: (heardMs: number) => void;
}

/**
 * Recognises audio of any length, segment by segment; memory holds one segment and one piece. Segments without text are
 * left out. @throws as Audio.pieces(), SpeechRecogniser.recognise()
 */
export async function* transcribe(
  audio: Audio,
  options: TranscribeOptions,
): AsyncGenerator<TranscribedSegment, void, undefined> {
  const { detector, signal, onProgress, voice } = options;
  const { rate, channels } = audio;
  await using stream = detector.stream({ ...voice, rate, channels });
  const heard = new HeardAudio(voice);
  for await (const piece of audio.pieces(signal)) {
    const { events, samples } = await stream.push(piece, { signal });
    heard.append(samples);
    yield* segmentsOf(events, heard, options);
    onProgress?.(heard.endMs);
  }
  const { events, samples } = await stream.finish({ signal });
  heard.append(samples);
  yield* segmentsOf(events, heard, options);
  onProgress?.(heard.endMs);
}

async function* segmentsOf(
  events: readonly VoiceEvent[],
  heard: HeardAudio,
  { recogniser, language, translate, prompt, terms, beams, signal }: TranscribeOptions,
): AsyncGenerator<TranscribedSegment, void, undefined> {
  for (const event of events) {
    heard.note(event);
    if (event.kind === 'started') continue;
    const samples = heard.between(event.audioBeginMs, event.audioEndMs);
    const found = await recogniser.recognise(samples, { language, translate, prompt, terms, beams, signal });
    if (found.text !== '') yield placed(found, event);
  }
  heard.forget();
}

function placed(found: RecognisedSpeech, { beginMs, endMs, audioBeginMs }: VoiceEnded): TranscribedSegment {
  const { text, language, probability } = found;
  const at = (ms: number) => Math.round(audioBeginMs + ms);
  const words = found.words.map((word) => ({ ...word, beginMs: at(word.beginMs), endMs: at(word.endMs) }));
  return { beginMs: Math.round(beginMs), endMs: Math.round(endMs), text, language, probability, words };
}
