import { leavesOpen } from './abbreviations.js';

/** A part of a text, in UTF-16 code units: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Longest sentence, in UTF-16 code units. Longer ones are cut, at a blank where there is one. */
export const longestSentence = 1000;

/** Text that Intl.Segmenter sees at once: its time grows faster than the text. */
const windowLength = 4096;

/** A line at least this long that ends without a full stop goes on in the next line. */
const wrappedLine = 60;

/** Where a script has no sentence marks, clauses are gathered to at least this length. */
const shortestClauses = 60;

/** Text on either side of a break that decides whether it is one. */
const lookedAt = 128;

const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });

const openers = '(\\[{（［｛「『【〔《〈“‘«‹¿¡';
const closers = '\\p{Pe}\\p{Pf}"\'”’»›';
const openersAtEnd = new RegExp(`[${openers}]+$`, 'u');
const beginsLower = new RegExp(`^["'${openers}]*\\p{Ll}`, 'u');
const terminated = new RegExp(`[.!?…:;\\p{Sentence_Terminal}][${closers}]*$`, 'u');
const lastWord = new RegExp(`([^\\s${openers}"'][^\\s${openers}"]*)\\.$`, 'u');
/** Ends that Intl.Segmenter overlooks: an ellipsis, the Greek question mark, the Tibetan shad. */
const otherEnds = new RegExp(
  `(?:…[${closers}]*|(?<=\\p{Script=Greek})[;\\u037e])\\s+(?=["'${openers}]*\\p{Lu})|[།༎]+\\s+`,
  'gu',
);
/** A marker of a list's item and nothing else: "1.", "(b)", "iv)". */
const markerAlone = /^[([]?(?:\p{N}{1,3}|\p{L}|[ivxlc]{1,5})[.)\]]$/iu;
const bullet = /^(?:[-*+•‣◦▪·–—]|#{1,6}|>)\s+/u;
const lineBreak = /\r\n|[\n\r\u2028\u2029]/g;
const word = /[\p{L}\p{N}]/u;
/** Scripts that put blanks between clauses, and whose texts often have no sentence marks. */
const spacedClauses = /(?<=[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}])\s+/gu;
const hasSpacedClauses = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** The sentences of a text in order, without the blanks and list markers around them. Takes time linear in the text. */
export function* sentences(text: string): Generator<Span, void, undefined> {
  let open: Span | undefined;
  for (const piece of pieces(text)) {
    if (open !== undefined && goesOn(text, open, piece)) {
      open = { start: open.start, end: piece.end };
      continue;
    }
    if (open !== undefined) yield* cut(text, open);
    open = piece;
  }
  if (open !== undefined) yield* cut(text, open);
}

/** What Intl.Segmenter takes for sentences, and what it overlooks; together they are the text. */
function* pieces(text: string): Generator<Span, void, undefined> {
  let at = 0;
  while (at < text.length) {
    const end = unsplit(text, at + windowLength);
    const found = segment(text.slice(at, end));
    // The last one may go on behind the window.
    if (end < text.length && found.length > 1) found.pop();
    for (const length of found) {
      yield { start: at, end: at + length };
      at += length;
    }
  }
}

/** The lengths of a window's parts. */
function segment(window: string): number[] {
  const ends: number[] = [];
  for (const { segment: part, index } of segmenter.segment(window)) {
    const end = index + part.length;
    if (ends.length > 0 && part.trimStart() === '') ends.pop();
    const breaks = hasSpacedClauses.test(part) ? clauses(part) : matchEnds(part, otherEnds);
    for (const inner of breaks) ends.push(index + inner);
    // An opening bracket belongs to what follows.
    const strayOpeners = end < window.length ? (openersAtEnd.exec(part)?.[0].length ?? 0) : 0;
    if (strayOpeners < part.length) ends.push(end - strayOpeners);
  }
  return ends.map((end, index) => end - (ends[index - 1] ?? 0));
}

function matchEnds(part: string, pattern: RegExp): number[] {
  return [...part.matchAll(pattern)].map(({ 0: match, index }) => index + match.length);
}

/** Ends of clauses of at least `shortestClauses` each, but for the last. */
function clauses(part: string): number[] {
  const ends: number[] = [];
  for (const end of matchEnds(part, spacedClauses)) {
    if (end - (ends.at(-1) ?? 0) >= shortestClauses && part.length - end >= shortestClauses) ends.push(end);
  }
  return ends;
}

/** Whether `next` belongs to the sentence of `open`. */
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

/** A sentence without what surrounds it, in parts where it is too long. */
function* cut(text: string, { start, end }: Span): Generator<Span, void, undefined> {
  let from = start;
  while (from < end) {
    const to = end - from <= longestSentence ? end : cutPoint(text, from);
    const span = trimmed(text, from, to);
    if (span !== undefined) yield span;
    from = to;
  }
}

/** Behind the last blank within the longest sentence, else wherever no character is taken apart. */
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

/** The position at or before `end` that does not take a character apart: no surrogate pair, no mark from its letter. */
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
