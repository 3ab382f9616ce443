import { columns, graphemes } from './columns.js';

/** A piece of text, highlighted or not. */
export interface Piece {
  text: string;
  matched: boolean;
}

/** Wraps pieces at blanks into lines of at most `width` columns. A highlighted piece takes `extra` more columns. */
export function wrapPieces(pieces: readonly Piece[], width: number, extra: number): Piece[][] {
  const lines: Piece[][] = [];
  let line: Piece[] = [];
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
      line.push({ text: ' ', matched: false });
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

export function piecesWidth(pieces: readonly Piece[], extra: number): number {
  return pieces.reduce((sum, { text, matched }) => sum + columns(text) + (matched ? extra : 0), 0);
}

/** The words between blanks, each as its pieces. */
function words(pieces: readonly Piece[]): Piece[][] {
  const result: Piece[][] = [[]];
  for (const { text, matched } of pieces) {
    text.split(' ').forEach((part, index) => {
      if (index > 0) result.push([]);
      if (part !== '') result.at(-1)?.push({ text: part, matched });
    });
  }
  return result.filter((word) => word.length > 0);
}

/** Splits a word that is longer than a line. */
function* broken(word: readonly Piece[], width: number, extra: number): Generator<Piece[]> {
  for (const { text, matched } of word) {
    const room = width - (matched ? extra : 0);
    let part = '';
    let used = 0;
    for (const grapheme of graphemes(text)) {
      if (part !== '' && used + grapheme.width > room) {
        yield [{ text: part, matched }];
        part = '';
        used = 0;
      }
      part += grapheme.text;
      used += grapheme.width;
    }
    yield [{ text: part, matched }];
  }
}
