import type { SnippetPart } from '../../../lib/internal.js';
import { columns, graphemes } from './columns.js';

/** Wraps the parts of a snippet at blanks into lines of at most `width` columns. A match takes `extra` more columns. */
export function wrapPieces(pieces: readonly SnippetPart[], width: number, extra: number): SnippetPart[][] {
  const lines: SnippetPart[][] = [];
  let line: SnippetPart[] = [];
  let used = 0;
  const next = () => {
    if (line.length > 0) lines.push(line);
    line = [];
    used = 0;
  };
  for (const word of words(pieces)) {
    const size = piecesWidth(word, extra);
    if (used > 0 && used + 1 + size > width) next();
    if (used > 0) {
      line.push({ text: ' ', match: false });
      used++;
    }
    for (const piece of size <= width ? [word] : [...broken(word, width, extra)]) {
      const pieceSize = piecesWidth(piece, extra);
      if (used + pieceSize > width) next();
      line.push(...piece);
      used += pieceSize;
    }
  }
  next();
  return lines;
}

export function piecesWidth(pieces: readonly SnippetPart[], extra: number): number {
  return pieces.reduce((sum, { text, match }) => sum + columns(text) + (match ? extra : 0), 0);
}

/** The words between blanks, each as its pieces. */
function words(pieces: readonly SnippetPart[]): SnippetPart[][] {
  const result: SnippetPart[][] = [[]];
  for (const { text, match } of pieces) {
    text.split(' ').forEach((part, index) => {
      if (index > 0) result.push([]);
      if (part !== '') result.at(-1)?.push({ text: part, match });
    });
  }
  return result.filter((word) => word.length > 0);
}

/** Splits a word that is longer than a line. */
function* broken(word: readonly SnippetPart[], width: number, extra: number): Generator<SnippetPart[]> {
  for (const { text, match } of word) {
    const room = width - (match ? extra : 0);
    let part = '';
    let used = 0;
    for (const grapheme of graphemes(text)) {
      if (part !== '' && used + grapheme.width > room) {
        yield [{ text: part, match }];
        part = '';
        used = 0;
      }
      part += grapheme.text;
      used += grapheme.width;
    }
    yield [{ text: part, match }];
  }
}
