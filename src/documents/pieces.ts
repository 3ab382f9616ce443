import type { Block } from './document.js';

/** A part of a block that is not split further. */
export interface Piece extends Block {
  /** Whether it continues the block of the piece before it. */
  continues: boolean;
}

/** Cuts a block into pieces: sentences of prose and items if the block is longer than `size`, lines of code, rows. */
export function piecesOf(block: Block, size: number): Piece[] {
  if (block.text.length <= size) return [{ ...block, continues: false }];
  const parts = block.kind === 'code' ? linesOf(block.text) : sentencesOf(block.text);
  const small = parts.flatMap((part) => (part.length <= size ? [part] : wordsOf(part, size)));
  return small.map((text, at) => ({ ...block, text, continues: at > 0 }));
}

const linesOf = (text: string) => text.split('\n');

/** Ends of sentences in Latin and in East Asian scripts. */
const sentenceEnd = /[.!?](?:["')\]]{0,3})(?=\s)|[。！？]|\n/g;

function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let begin = 0;
  for (const { index, 0: mark } of text.matchAll(sentenceEnd)) {
    const end = index + mark.length;
    const sentence = text.slice(begin, end).trim();
    if (sentence !== '') sentences.push(sentence);
    begin = end;
  }
  const rest = text.slice(begin).trim();
  return rest === '' ? sentences : [...sentences, rest];
}

/** Cuts a text after words, or within a word that is longer than `size`. */
function wordsOf(text: string, size: number): string[] {
  const parts: string[] = [];
  for (let begin = 0; begin < text.length; ) {
    const end = endOfWords(text, begin, size);
    const part = text.slice(begin, end).trimEnd();
    if (part !== '') parts.push(part);
    begin = end;
  }
  return parts;
}

function endOfWords(text: string, begin: number, size: number): number {
  const limit = begin + size;
  if (limit >= text.length) return text.length;
  // Only in the second half: a text without spaces would be searched to its beginning for each part.
  const middle = begin + Math.floor(size / 2);
  const space = middle + text.slice(middle, limit + 1).lastIndexOf(' ');
  if (space > middle) return space + 1;
  // Not between the halves of a surrogate pair.
  return /[\uDC00-\uDFFF]/.test(text[limit] as string) ? limit - 1 : limit;
}

/** The text of a chunk: blocks with blank lines between them, items and rows one below the other, code in fences. */
export function textOfPieces(pieces: readonly Piece[]): string {
  let text = '';
  let last: Piece | undefined;
  let fence = '';
  for (const [at, piece] of pieces.entries()) {
    const joined = last !== undefined && piece.continues && last.kind === piece.kind;
    if (last?.kind === 'code' && !joined) text += `\n${fence}`;
    if (last !== undefined) text += glue(last, piece, joined);
    if (piece.kind === 'code' && !joined) {
      fence = fenceAround(pieces.slice(at));
      text += `${fence}${piece.head ?? ''}\n`;
    }
    if (piece.kind === 'row' && piece.head && !(last?.kind === 'row' && last.head === piece.head))
      text += `${piece.head}\n`;
    text += piece.text;
    last = piece;
  }
  return last?.kind === 'code' ? `${text}\n${fence}` : text;
}

/** The fence of the code that the first piece begins: longer than any in the code. */
function fenceAround(pieces: readonly Piece[]): string {
  const end = pieces.findIndex(({ continues }, at) => at > 0 && !continues);
  const code = pieces.slice(0, end < 0 ? undefined : end);
  const inside = code
    .flatMap(({ text }) => text.match(/^\s*`{3,}/gm) ?? [])
    .map((mark) => mark.trim().length);
  return '`'.repeat(Math.max(2, ...inside) + 1);
}

function glue(last: Piece, piece: Piece, joined: boolean): string {
  if (joined) return piece.kind === 'code' ? '\n' : ' ';
  const tight = last.kind === piece.kind && (piece.kind === 'item' || piece.kind === 'row');
  return tight ? '\n' : '\n\n';
}
