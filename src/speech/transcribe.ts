import {
  isSpoken,
  type SpeechRecogniser,
  type VoiceDetector,
  type VoiceEnded,
  type VoiceOptions,
  type VoiceResult,
} from '../../lib/internal.js';
import { type Audio, PiecesUntilFailure } from './audio.js';
import { dividedText, type TranscribedSegment } from './divided-text.js';
import { HeardAudio, keptMs } from './heard-audio.js';
import { WaitingSegments } from './waiting-segments.js';

export interface TranscribeOptions {
  detector: VoiceDetector;
  recogniser: SpeechRecogniser;
  voice?: Omit<VoiceOptions, 'rate' | 'channels'>;
  /**
   * Whether segments with short pauses between them are recognised together, which takes less time and finds more words, but
   * gives no text before the window is full. Default false.
   */
  together?: boolean | undefined;
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
 * Recognises audio of any length; memory holds one window of segments and one piece. Segments without letters and digits are left out. Audio
 * whose reading fails ends there: what was said so far is told before the error is thrown. @throws as Audio.pieces(), SpeechRecogniser.recognise()
 */
export async function* transcribe(
  audio: Audio,
  options: TranscribeOptions,
): AsyncGenerator<TranscribedSegment, void, undefined> {
  const { detector, signal, onProgress, voice = {}, together = false } = options;
  const { rate, channels } = audio;
  await using stream = detector.stream({ ...voice, rate, channels });
  const heard = new HeardAudio(voice);
  const waiting = new WaitingSegments({ together, latestMs: keptMs(voice) });
  async function* texts({
    events,
    samples,
  }: VoiceResult): AsyncGenerator<TranscribedSegment, void, undefined> {
    heard.append(samples);
    for (const event of events) {
      heard.note(event);
      yield* textsOf(waiting.next(event), heard, options);
    }
    yield* textsOf(waiting.heard(heard.endMs), heard, options);
    heard.neededFromMs = waiting.beginMs;
    heard.forget();
    onProgress?.(heard.endMs);
  }
  const pieces = new PiecesUntilFailure(audio, signal);
  for await (const piece of pieces) yield* texts(await stream.push(piece, { signal }));
  yield* texts(await stream.finish({ signal }));
  yield* textsOf(waiting.rest(), heard, options);
  pieces.throwFailure();
}

async function* textsOf(
  segments: readonly VoiceEnded[],
  heard: HeardAudio,
  { recogniser, language, translate, prompt, terms, beams, signal }: TranscribeOptions,
): AsyncGenerator<TranscribedSegment, void, undefined> {
  const [first] = segments;
  if (first === undefined) return;
  const { audioBeginMs } = first;
  const samples = heard.between(audioBeginMs, segments.at(-1)?.audioEndMs ?? audioBeginMs);
  const found = await recogniser.recognise(samples, { language, translate, prompt, terms, beams, signal });
  const at = (ms: number) => Math.round(audioBeginMs + ms);
  const words = found.words.map((word) => ({ ...word, beginMs: at(word.beginMs), endMs: at(word.endMs) }));
  for (const segment of dividedText({ ...found, words }, segments)) if (isSpoken(segment.text)) yield segment;
}
