import type { RecognisedSpeech, SpeechWord } from '../../lib/internal.js';

/** A piece of speech between two pauses. Times are milliseconds since the beginning of the audio. */
export interface TranscribedSegment {
  readonly beginMs: number;
  readonly endMs: number;
  readonly text: string;
  /** ISO 639-1. */
  readonly language: string;
  /** In [0, 1]: the geometric mean over all tokens of the window that it was recognised in. */
  readonly probability: number;
  readonly words: readonly SpeechWord[];
}

/** Places of words in a text that has them in their order; as far as it has them. */
export function placesOf(text: string, words: readonly SpeechWord[]): number[] {
  const places: number[] = [];
  let at = 0;
  for (const word of words) {
    const place = text.indexOf(word.text, at);
    if (place < 0) break;
    places.push(place);
    at = place + word.text.length;
  }
  return places;
}

/** A sign after which speakers pause. */
const pauseSign = /[.,;:!?…。、，；：！？]["'”’)\]]*\s*$/u;

/** How far from a pause a sign may be that ends the words before it, in ms: times of words are rough where speakers pause. */
const signReachMs = 1500;

/** A piece that is shorter, as a click or a breath at the end of a recording, has no word beside longer ones. */
const shortestMs = 200;

/**
 * Divides what was recognised together among its segments, in their order: at the signs near their pauses, or else by the times of
 * words, which are moved into their segments.
 */
export function dividedText(
  { text, words, language, probability }: Omit<RecognisedSpeech, 'tokens'>,
  all: readonly { readonly beginMs: number; readonly endMs: number }[],
): TranscribedSegment[] {
  const long = all.filter(({ beginMs, endMs }) => endMs - beginMs >= shortestMs);
  const segments = long.length > 0 ? long : all;
  const places = placesOf(text, words);
  const isPause = (word: number) => pauseSign.test(text.slice(places[word - 1], places[word]));
  let [from, first] = [0, 0];
  return segments.map((segment, index) => {
    const next = segments[index + 1];
    const last = next
      ? divisionAt((segment.endMs + next.beginMs) / 2, words.slice(0, places.length), first, isPause)
      : words.length;
    const until = next ? (places[last] ?? text.length) : text.length;
    const [beginMs, endMs] = [Math.round(segment.beginMs), Math.round(segment.endMs)];
    const within = (ms: number) => Math.max(beginMs, Math.min(endMs, ms));
    const own = words.slice(first, last);
    const piece = {
      text: text.slice(from, until).trim(),
      words: own.map((word) => ({ ...word, beginMs: within(word.beginMs), endMs: within(word.endMs) })),
    };
    [from, first] = [until, last];
    return { beginMs, endMs, language, probability, ...piece };
  });
}

/** Returns the first word after a border. `isPause`: whether the text has a sign of a pause before a word. */
function divisionAt(
  borderMs: number,
  words: readonly SpeechWord[],
  first: number,
  isPause: (word: number) => boolean,
): number {
  const middle = ({ beginMs, endMs }: SpeechWord) => (beginMs + endMs) / 2;
  const nearest = words.findIndex((word, index) => index >= first && middle(word) >= borderMs);
  const division = nearest < 0 ? words.length : nearest;
  let [best, distance] = [division, signReachMs];
  for (let at = first + 1; at < words.length; at++) {
    const [before, after] = [words[at - 1], words[at]];
    if (before === undefined || after === undefined || !isPause(at)) continue;
    const far = Math.abs((before.endMs + after.beginMs) / 2 - borderMs);
    if (far < distance) [best, distance] = [at, far];
  }
  return best;
}
