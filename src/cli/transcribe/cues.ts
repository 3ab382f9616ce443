import { placesOf, type TranscribedSegment } from '../../speech/divided-text.js';

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
  const places = placesOf(text, words);
  for (const [index, place] of places.entries()) {
    const word = words[index];
    if (word === undefined) break;
    const isLong = place + word.text.length - from > longest.characters || word.endMs - begin > longest.ms;
    const isWhole = place - from >= leastCharacters && sentenceEnd.test(text.slice(from, place));
    if ((isLong || isWhole) && word.beginMs > begin && word.beginMs < endMs) {
      cues.push({ beginMs: begin, endMs: word.beginMs, text: text.slice(from, place).trim() });
      from = place;
      begin = word.beginMs;
    }
  }
  return [...cues, { beginMs: begin, endMs, text: text.slice(from).trim() }];
}
