import { frequentPairs } from './frequent-pairs.js';
import { singleByteDecoder } from './single-bytes.js';

interface LatinEncoding {
  readonly encoding: string;
  readonly letters: keyof typeof frequentPairs;
}

/** The usual ones first. */
const latinEncodings: readonly LatinEncoding[] = [
  { encoding: 'windows-1252', letters: 'western' },
  { encoding: 'windows-1250', letters: 'central' },
  { encoding: 'iso-8859-2', letters: 'central' },
  { encoding: 'windows-1254', letters: 'turkish' },
  { encoding: 'windows-1257', letters: 'baltic' },
  { encoding: 'windows-1258', letters: 'vietnamese' },
  { encoding: 'macintosh', letters: 'western' },
  { encoding: 'ibm850', letters: 'western' },
  { encoding: 'ibm437', letters: 'western' },
  { encoding: 'ibm852', letters: 'central' },
  { encoding: 'ibm857', letters: 'turkish' },
  { encoding: 'ibm775', letters: 'baltic' },
];

const pairSets = (texts: readonly string[]) => texts.map((text) => new Set(text.match(/../gu)));

/** Pairs of each language by the letters of its encodings. */
const languages = {
  western: pairSets(frequentPairs.western),
  central: pairSets(frequentPairs.central),
  turkish: pairSets(frequentPairs.turkish),
  baltic: pairSets(frequentPairs.baltic),
  vietnamese: pairSets(frequentPairs.vietnamese),
};

/** An encoding is taken if its score is higher than that of a more usual one with other letters by this, and by more for a few characters. */
const margin = 0.1;
const marginOfOne = 0.25;

/** The same for an encoding of the same letters, and for those that are not of Windows. */
const leastMargin = 0.03;

/** A text whose best score is lower is in none of these encodings, or has too little to tell. */
const leastScore = 0.3;

/** Characters beyond ASCII that are looked at. */
const mostCharacters = 400;

/** The encoding of a text, and how well it fits: at most 1. */
export interface LatinGuess extends LatinEncoding {
  readonly score: number;
}

/** Returns the encoding of a text in Latin letters, by their neighbours and by the places of its marks; undefined if they tell none. */
export function encodingOfLatin(bytes: Uint8Array): LatinGuess | undefined {
  const count = bytes.reduce((sum, byte) => sum + (byte >= 0x80 ? 1 : 0), 0);
  let best: LatinGuess | undefined;
  for (const each of latinEncodings) {
    const score = scoreOf(decodedLatin(bytes, each.encoding), languages[each.letters]);
    const isNear = best?.letters === each.letters || !best?.encoding.startsWith('windows');
    const lead = isNear ? leastMargin : margin + marginOfOne / count;
    if (score > (best === undefined ? leastScore : best.score + lead)) best = { ...each, score };
  }
  return best;
}

function decodedLatin(bytes: Uint8Array, encoding: string): string {
  return singleByteDecoder(encoding)?.(bytes) ?? new TextDecoder(encoding).decode(bytes);
}

const beyondAscii = /[^\0-\x7f]/gu;
const isLetter = (character: string) => /[\p{L}\p{M}]/u.test(character);
const isLower = (character: string) => /\p{Ll}/u.test(character);
const isUpper = (character: string) => /\p{Lu}/u.test(character);

/** Returns how well the characters beyond ASCII fit a text: at most 1, for letters in their usual places and marks in theirs. */
function scoreOf(text: string, languages: readonly ReadonlySet<string>[]): number {
  const found = languages.map(() => 0);
  let [all, points] = [0, 0];
  for (const { index, 0: character } of text.matchAll(beyondAscii)) {
    if (++all > mostCharacters) break;
    const before = text[index - 1] ?? ' ';
    const after = text[index + 1] ?? ' ';
    if (/\p{Script=Latin}|\p{M}/u.test(character) && !/[ªº]/.test(character)) {
      // Three of one letter are a drawn line.
      if (character === before && character === after) points--;
      if (isUpper(character) && isLower(before)) points--;
      const folded = character.toLowerCase();
      if (!isLetter(before) && !isLetter(after) && !words.test(folded)) continue;
      const pairs = [neighbour(before) + folded, folded + neighbour(after)];
      for (const [at, known] of languages.entries())
        for (const pair of pairs) if (known.has(pair)) found[at] = (found[at] ?? 0) + 0.5;
    } else points += pointsOfMark(character, before, after);
  }
  return all === 0 ? 0 : (points + Math.max(...found)) / Math.min(all, mostCharacters);
}

/** Letters that are words. */
const words = /[àáèéêíóòôùúåøæő]/;

const neighbour = (character: string) => (isLetter(character) ? character.toLowerCase() : ' ');

const isSpace = (character: string) => /\s/.test(character);

/** Returns how well a mark that is no letter fits between two characters. */
function pointsOfMark(mark: string, before: string, after: string): number {
  const within = isLetter(before) && isLetter(after);
  if (/[\x80-\x9f\uFFFD]/.test(mark)) return -2;
  if (mark === '’') return isLetter(before) && isLetter(after) ? 1 : 0.6;
  if (/[\u2500-\u259F]/.test(mark)) return isDrawn(before) || isDrawn(after) ? 0.7 : -1;
  if (mark === '\u00ad') return within ? 0.3 : -0.5;
  if (within) return /[–—·]/.test(mark) ? 0.3 : -1;
  if (/[„‚]/.test(mark)) return isLetter(before) || isSpace(after) ? -1 : 1;
  if (/[“”«»‹›‘]/.test(mark)) {
    if (isSpace(before) && isSpace(after)) return 0.3;
    return isLetter(before) && mark !== '”' ? 0.7 : 1;
  }
  if (/[¿¡]/.test(mark)) return isSpace(after) || isLetter(before) ? -0.5 : 1;
  if (mark === '…') return isSpace(before) ? 0.3 : 0.8;
  if (mark === '\u00a0' && (isSpace(before) || isSpace(after))) return -0.3;
  if (mark === '°' && isLetter(before)) return -0.5;
  if (/[–—•·°§€£©®™]/.test(mark)) return isLower(after) ? 0.4 : 0.8;
  if (/[ªº¹²³¼½¾×±µ\u00a0]/.test(mark)) return isLower(after) ? 0.2 : 0.6;
  return -0.5;
}

const isDrawn = (character: string) => /[\u2500-\u259F]/.test(character);
