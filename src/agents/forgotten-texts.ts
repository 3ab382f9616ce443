import type { Slices } from '../../lib/basics.js';
import { clientSlices } from '../base/waiting/next-slice.js';
import { jsonPieces } from '../protocol/json-pieces.js';
import { TextFinder } from './text-finder.js';

/** Shortest sentence by which a text is recognised in another one. */
const shortestQuote = 20;

/** A longer sentence is cut. */
const longestSentence = 4 * 16_384;

/** Characters of a text that are read at once. */
const pieceLength = 16_384;

const sentenceEnd = /\n+|(?<=[.!?])\s+|(?<=[。！？।؟])\s*/u;

/** The texts of records that were forgotten. It reads them, and other texts, in slices of the client whose request this is. */
export class ForgottenTexts {
  readonly #wholes = new TextFinder();
  /** The texts and their sentences. */
  readonly #quotes = new TextFinder({ inCut: true });
  /** The same, as JSON writes them. */
  readonly #inJson = new TextFinder({ inCut: true });
  /** The texts and their sentences as they were written, without the marks at their ends. */
  readonly written: readonly string[];

  private constructor(written: readonly string[]) {
    this.written = written;
  }

  static async of(texts: readonly string[]): Promise<ForgottenTexts> {
    const written = new Set(texts.map(withoutMarks));
    const quoted: string[] = [];
    const forgotten = new ForgottenTexts(quoted);
    const slices = clientSlices();
    const known = new Set<string>();
    const add = async (part: string) => {
      if (known.has(part)) return;
      known.add(part);
      forgotten.#quotes.add(part);
      let json = '';
      for (const piece of jsonPieces(part)) {
        if (slices.over) await slices.next();
        json += piece;
      }
      // A long text of many pieces is copied when it is first read.
      await slices.next();
      forgotten.#inJson.add(json.slice(1, -1));
    };
    const addSentence = async (sentence: string) => {
      if (slices.over) await slices.next();
      const part = withoutMarks(plainText(sentence));
      if (part.length < shortestQuote) return;
      written.add(withoutMarks(sentence));
      await add(part);
    };
    for (const text of texts) {
      const whole = await plain(piecesOf(text), slices);
      if (whole === '') continue;
      if (slices.over) await slices.next();
      forgotten.#wholes.add(whole);
      await add(withoutMarks(whole));
      let rest = '';
      for (const piece of piecesOf(text)) {
        const sentences = (rest + piece).split(sentenceEnd);
        rest = sentences.pop() ?? '';
        if (rest.length > longestSentence) {
          sentences.push(rest);
          rest = '';
        }
        for (const sentence of sentences) await addSentence(sentence);
      }
      await addSentence(rest);
    }
    for (const text of written) quoted.push(text);
    return forgotten;
  }

  /** Whether a text has one of them whole. */
  async within(text: string): Promise<boolean> {
    const slices = clientSlices();
    return isIn(this.#wholes, await plain(piecesOf(text), slices), slices);
  }

  /** Whether a text has one of them, or a sentence of one, or ends within one. */
  async quotedBy(text: string): Promise<boolean> {
    const slices = clientSlices();
    return isIn(this.#quotes, await plain(piecesOf(text), slices), slices);
  }

  /** The same for the JSON of a value, which writes some characters in another way. */
  async quotedByJsonOf(value: unknown): Promise<boolean> {
    const slices = clientSlices();
    return isIn(this.#inJson, await plain(written(jsonPieces(value)), slices), slices);
  }
}

const mark = /[\p{P}\p{Sk}\s]/u;

/** Marks and blanks that are dropped from an end. */
const mostMarks = 64;

/** Returns a text without the marks and blanks at its ends: who quotes it goes on in other ways. A text of marks alone stays. */
function withoutMarks(text: string): string {
  let end = text.length;
  while (end > 0 && text.length - end < mostMarks && mark.test(text.charAt(end - 1))) end--;
  let begin = 0;
  while (begin < end && begin < mostMarks && mark.test(text.charAt(begin))) begin++;
  return text.slice(begin, end) || text;
}

async function isIn(finder: TextFinder, text: string, slices: Slices): Promise<boolean> {
  const search = finder.search(text);
  for (;;) {
    if (slices.over) await slices.next();
    const { done, value } = search.next();
    if (done) return value;
  }
}

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength);
}

/** Line breaks and tabs of JSON are blanks. */
function* written(pieces: Iterable<string>): Generator<string> {
  for (const piece of pieces) yield piece.replaceAll(/\\[nrt]/g, ' ');
}

/** Blanks and case make no other text. */
const plainText = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().toLowerCase();

async function plain(pieces: Iterable<string>, slices: Slices): Promise<string> {
  let text = '';
  let endsBlank = true;
  for (const piece of pieces) {
    if (slices.over) await slices.next();
    const folded = piece.replaceAll(/\s+/g, ' ').toLowerCase();
    const added: string = endsBlank && folded.startsWith(' ') ? folded.slice(1) : folded;
    text += added;
    if (added !== '') endsBlank = added.endsWith(' ');
  }
  if (slices.over) await slices.next();
  return endsBlank ? text.trimEnd() : text;
}
