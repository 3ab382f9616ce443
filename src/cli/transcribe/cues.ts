import type { TranscribedSegment } from '../../speech/transcribe.js';

/** A text between two times. */
export type Cue = Pick<TranscribedSegment, 'beginMs' | 'endMs' | 'text'>;

/** A subtitle may have two lines of 42 characters, for 7 seconds. */
const longest = { characters: 84, ms: 7000 } as const;

/** Characters after which the end of a sentence ends a subtitle, too. */
const leastCharacters = 42;
const sentenceEnd = /[.!?…。！？]["'”’)\]]*\s*$/u;

/** Cuts a segment into subtitles, between words that have different times. They follow each other without gaps. */
export function cuesOf({ beginMs, endMs, text, words }: TranscribedSegment): Cue[] {
  const cues: Cue[] = [];
  let from = 0;
  let begin = beginMs;
  let at = 0;
  for (const word of words) {
    const place = text.indexOf(word.text, at);
    if (place < 0) break;
    const isLong = place + word.text.length - from > longest.characters || word.endMs - begin > longest.ms;
    const isWhole = place - from >= leastCharacters && sentenceEnd.test(text.slice(from, place));
    if ((isLong || isWhole) && word.beginMs > begin && word.beginMs < endMs) {
      cues.push({ beginMs: begin, endMs: word.beginMs, text: text.slice(from, place).trim() });
      from = place;
      begin = word.beginMs;
    }
    at = place + word.text.length;
  }
  return [...cues, { beginMs: begin, endMs, text: text.slice(from).trim() }];
}
