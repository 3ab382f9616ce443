import { leavesOpen } from './abbreviations.js';

/** A range of a text, in UTF-16 code units: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Longest sentence, in UTF-16 code units. Longer ones are cut, at a blank if possible. */
export const longestSentence = 1000;

/** UTF-16 units per call of Intl.Segmenter, whose time is superlinear. */
const windowLength = 2048;

/** A line at least this long that ends without a full stop continues on the next line. */
const wrappedLine = 60;

/** Shortest group of clauses in scripts without sentence marks. */
const shortestClauses = 60;

/** UTF-16 units examined on each side of a possible sentence end. */
const lookedAt = 128;

const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });

const openers = '(\\[{（［｛「『【〔《〈“‘«‹¿¡';
const closers = '\\p{Pe}\\p{Pf}"\'”’»›';
const openersAtEnd = new RegExp(`[${openers}]+$`, 'u');
const beginsLower = new RegExp(`^["'${openers}]*\\p{Ll}`, 'u');
const terminated = new RegExp(`[.!?…:;\\p{Sentence_Terminal}][${closers}]*$`, 'u');
const lastWord = new RegExp(`([^\\s${openers}"'][^\\s${openers}"]*)\\.$`, 'u');
/** Sentence ends that Intl.Segmenter misses: an ellipsis, the Greek question mark, the Tibetan shad. */
const otherEnds = new RegExp(
  `(?:…[${closers}]*|(?<=\\p{Script=Greek})[;\\u037e])\\s+(?=["'${openers}]*\\p{Lu})|[།༎]+\\s+`,
  'gu',
);
/** A list item's marker alone: "1.", "(b)", "iv)". */
const markerAlone = /^[([]?(?:\p{N}{1,3}|\p{L}|[ivxlc]{1,5})[.)\]]$/iu;
const bullet = /^(?:[-*+•‣◦▪·–—]|#{1,6}|>)\s+/u;
const lineBreak = /\r\n|[\n\r\u2028\u2029]/g;
const word = /[\p{L}\p{N}]/u;
/** Scripts that put blanks between clauses, and whose texts often have no sentence marks. */
const spacedClauses = /(?<=[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}])\s+/gu;
const hasSpacedClauses = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Pieces joined to sentences between two pauses. */
const piecesAtOnce = 64;

/** Yields the sentences of a text in order, without surrounding blanks and list markers, in linear time. */
export function* sentences(text: string): Generator<Span, void, undefined> {
  for (const span of sentenceSteps(text)) if (span !== undefined) yield span;
}

/** Yields as sentences() does, and undefined where a caller may pause: after a few milliseconds of work, whatever the text. */
export function* sentenceSteps(text: string): Generator<Span | undefined, void, undefined> {
  let open: Span | undefined;
  let seen = 0;
  for (const piece of pieces(text)) {
    if (piece === undefined || seen++ % piecesAtOnce === 0) yield undefined;
    if (piece === undefined) continue;
    if (open !== undefined && goesOn(text, open, piece)) {
      open = { start: open.start, end: piece.end };
      continue;
    }
    if (open !== undefined) yield* cut(text, open);
    open = piece;
  }
  if (open !== undefined) yield* cut(text, open);
}

/** Yields the pieces of a text between sentence ends, including ends that Intl.Segmenter misses; undefined before each window. */
function* pieces(text: string): Generator<Span | undefined, void, undefined> {
  let at = 0;
  while (at < text.length) {
    yield undefined;
    const end = unsplit(text, at + windowLength);
    const found = segment(text.slice(at, end));
    // The last piece may continue beyond the window.
    if (end < text.length && found.length > 1) found.pop();
    for (const length of found) {
      yield { start: at, end: at + length };
      at += length;
    }
  }
}

/** Returns the lengths of a window's pieces. */
function segment(window: string): number[] {
  const ends: number[] = [];
  for (const { segment: part, index } of segmenter.segment(window)) {
    const end = index + part.length;
    if (ends.length > 0 && part.trimStart() === '') ends.pop();
    const breaks = hasSpacedClauses.test(part) ? clauses(part) : matchEnds(part, otherEnds);
    for (const inner of breaks) ends.push(index + inner);
    // An opening bracket belongs to the next piece.
    const strayOpeners = end < window.length ? (openersAtEnd.exec(part)?.[0].length ?? 0) : 0;
    if (strayOpeners < part.length) ends.push(end - strayOpeners);
  }
  return ends.map((end, index) => end - (ends[index - 1] ?? 0));
}

function matchEnds(part: string, pattern: RegExp): number[] {
  return [...part.matchAll(pattern)].map(({ 0: match, index }) => index + match.length);
}

/** Returns the ends of groups of clauses, each of at least `shortestClauses` except the last. */
function clauses(part: string): number[] {
  const ends: number[] = [];
  for (const end of matchEnds(part, spacedClauses)) {
    if (end - (ends.at(-1) ?? 0) >= shortestClauses && part.length - end >= shortestClauses) ends.push(end);
  }
  return ends;
}

/** Returns whether `next` continues the sentence of `open`. */
function goesOn(text: string, open: Span, next: Span): boolean {
  if (next.end - open.start > longestSentence) return false;
  const tail = text.slice(Math.max(open.start, open.end - lookedAt), open.end);
  const before = tail.trimEnd();
  const after = text.slice(next.start, next.start + lookedAt).trimStart();
  const lines = tail.slice(before.length).match(lineBreak)?.length ?? 0;
  if (lines > 1 || (lines > 0 && bullet.test(after))) return false;
  if (markerAlone.test(before.trimStart())) return lines === 0;
  if (before.endsWith('.')) {
    const ended = lastWord.exec(before)?.[1];
    if (ended !== undefined && leavesOpen(ended, after.split(/\s/, 1)[0] ?? '')) return true;
  }
  if (hasSpacedClauses.test(before.slice(-8))) return false;
  if (lines > 0 && terminated.test(before)) return false;
  return beginsLower.test(after) || (lines > 0 && lastLine(before).length >= wrappedLine);
}

const lastLine = (text: string) => text.split(lineBreak).at(-1) ?? '';

/** Yields a sentence without surrounding blanks and markers, in several parts if it is too long. */
function* cut(text: string, { start, end }: Span): Generator<Span, void, undefined> {
  let from = start;
  while (from < end) {
    const to = end - from <= longestSentence ? end : cutPoint(text, from);
    const span = trimmed(text, from, to);
    if (span !== undefined) yield span;
    from = to;
  }
}

/** Returns the position after the last blank within the longest sentence, else a position that splits no character. */
function cutPoint(text: string, from: number): number {
  const limit = unsplit(text, from + longestSentence);
  const part = text.slice(from, limit);
  const blank = Math.max(part.search(/\s\S*$/u), part.search(/[、，；،][^、，；،]*$/u));
  return blank > longestSentence / 2 ? from + blank + 1 : limit;
}

function trimmed(text: string, from: number, to: number): Span | undefined {
  const part = text.slice(from, to);
  if (!word.test(part)) return undefined;
  const whole = part.trimStart();
  const content = whole.replace(bullet, '');
  const start = to - content.length;
  return { start, end: start + content.trimEnd().length };
}

/** Returns the last position up to `end` that splits neither a surrogate pair nor a mark from its letter. */
function unsplit(text: string, end: number): number {
  if (end >= text.length) return text.length;
  for (let at = end; at > end - 32; at--) {
    const low = text.charCodeAt(at);
    const splitsPair = low >= 0xdc00 && low <= 0xdfff && /[\ud800-\udbff]/.test(text.charAt(at - 1));
    if (!splitsPair && !/^[\p{M}\u200d]/u.test(String.fromCodePoint(text.codePointAt(at) ?? 0))) {
      if (text.charAt(at - 1) !== '\u200d') return at;
    }
  }
  return end;
}
