import type { Passage } from '../../src/doors/page/document.js';

/** A place that is opened: a record, and its part that is looked for. */
export interface Place {
  readonly storage: string;
  readonly id: string;
  /** A part of the record's text, in UTF-16 code units. */
  readonly range?: readonly [start: number, end: number];
  /** Words that are marked. */
  readonly words?: readonly string[];
}

export interface Piece {
  readonly text: string;
  readonly mark: boolean;
}

/** A passage as it is shown: its headings apart, and without the sentences that the one before it has, too. */
export interface ShownPassage {
  readonly id: string;
  /** Empty if they are those of the passage before. */
  readonly headings: string;
  readonly pieces: readonly Piece[];
}

/** Shorter repetitions are left as they are. */
const leastRepeated = 20;
const mostRepeated = 2000;

/** Returns the passages as they are shown. The wanted one is whole, with its marks. */
export function shownPassages(passages: readonly Passage[], place: Place): ShownPassage[] {
  let before = { headings: '', body: '' };
  return passages.map((passage) => {
    const isWanted = passage.id === place.id;
    const { headings, body } = parts(passage);
    const from = isWanted ? 0 : repeatedLength(before.body, body);
    const pieces = isWanted
      ? piecesOf(body, rangesIn(body, passage.text.length - body.length, place))
      : [{ text: body.slice(from).trim(), mark: false }];
    const shown = {
      id: passage.id,
      headings: headings === before.headings ? '' : headings,
      pieces: pieces.filter(({ text }) => text !== ''),
    };
    before = { headings, body };
    return shown;
  });
}

/** The headings begin a passage of a document, before a blank line: the last of them is its heading. */
function parts({ text, metadata = {} }: Passage): { headings: string; body: string } {
  const end = text.indexOf('\n\n');
  const { heading, title } = metadata;
  const head = end < 0 ? '' : text.slice(0, end);
  const isHead = [heading, title].some(
    (known) =>
      typeof known === 'string' && known !== '' && head.endsWith(known.split(' > ').at(-1) as string),
  );
  return isHead && !head.includes('\n')
    ? { headings: head, body: text.slice(end + 2) }
    : { headings: '', body: text };
}

/** Returns the length of the beginning of a text that the end of the one before repeats. */
export function repeatedLength(before: string, text: string): number {
  for (let length = Math.min(before.length, text.length, mostRepeated); length >= leastRepeated; length--)
    if (before.endsWith(text.slice(0, length))) return length;
  return 0;
}

/** `skipped`: characters of the record's text before the body. */
function rangesIn(
  body: string,
  skipped: number,
  { range, words = [] }: Place,
): (readonly [number, number])[] {
  if (range !== undefined) {
    const [start, end] = range.map((at) => Math.max(0, at - skipped)) as [number, number];
    return end > start ? [[start, end]] : [];
  }
  const ranges: [number, number][] = [];
  for (const word of new Set(words)) {
    if (word === '') continue;
    for (let at = body.indexOf(word); at >= 0; at = body.indexOf(word, at + word.length))
      ranges.push([at, at + word.length]);
  }
  return ranges.sort(([a], [b]) => a - b);
}

/** Cuts a text at the ends of ranges, which are sorted. */
export function piecesOf(text: string, ranges: readonly (readonly [number, number])[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const [start, end] of ranges) {
    if (start < at) continue;
    pieces.push({ text: text.slice(at, start), mark: false }, { text: text.slice(start, end), mark: true });
    at = end;
  }
  pieces.push({ text: text.slice(at), mark: false });
  return pieces;
}

/** The name of a record for people: title of the document, else its file, else the id. */
export function nameOf({ id, metadata = {} }: Pick<Passage, 'id' | 'metadata'>): string {
  const { title, path } = metadata;
  if (typeof title === 'string' && title !== '') return title;
  return typeof path === 'string' && path !== '' ? (path.split('/').at(-1) as string) : id;
}

/** Where a record is: path, headings and page. */
export function placeText({ id, metadata = {} }: Pick<Passage, 'id' | 'metadata'>): string {
  const { path, heading, page } = metadata;
  if (typeof path !== 'string') return id;
  const above = typeof heading === 'string' && heading !== '' ? ` › ${heading}` : '';
  return `${path}${above}${page === undefined ? '' : `, page ${String(page)}`}`;
}
