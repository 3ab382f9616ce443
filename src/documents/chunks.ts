import { toUSVString } from 'node:util';
import type { Block, Document, Section } from './document.js';
import { type Piece, piecesOf, textOfPieces } from './pieces.js';

export interface ChunkOptions {
  /** Characters that a chunk should have at most, headings included. */
  size: number;
  /** Characters of the end of a chunk that the next one of the same section repeats, in whole sentences. */
  overlap: number;
}

/** A passage that is found as one. */
export interface Chunk {
  /** Unique within the file. */
  anchor: string;
  /** The headings, a blank line, and the passage. */
  text: string;
  title: string | undefined;
  heading: string | undefined;
  page: number | undefined;
  metadata: Readonly<Record<string, unknown>>;
}

/** Whether the embedding model can take a text: it may have more tokens than the context, or none. */
export type Fits = (text: string) => Promise<'fits' | 'too long' | 'no tokens'>;

/** Longest line of headings above a passage. */
const longestHeadings = 300;

/** A passage before its length in tokens is known. */
export interface Cut extends Omit<Chunk, 'text'> {
  /** Anchor of the section. */
  anchor: string;
  /** Whether it is the first of its section. */
  isFirst: boolean;
  /** The line of headings; "" for none. */
  above: string;
  body: string;
}

/** Cuts a document into chunks. No chunk crosses a heading. A chunk that does not fit the model is halved until it does; a chunk without tokens is left out. */
export function chunksOf(document: Document, options: ChunkOptions, fits: Fits): AsyncGenerator<Chunk> {
  return fittingChunks(cutsOf(document, options), fits);
}

/** Cuts a document into passages of about the size of a chunk. */
export async function* cutsOf(document: Document, options: ChunkOptions): AsyncGenerator<Cut> {
  for await (const section of document.sections) {
    const title = section.title ?? document.title;
    const above = headingsLine(title, section);
    let isFirst = true;
    for (const pieces of packed(section.blocks, options, above.length)) {
      yield {
        anchor: section.anchor,
        isFirst,
        above,
        body: textOfPieces(pieces),
        title,
        heading: section.headings.length > 0 ? section.headings.join(' > ') : undefined,
        page: section.page,
        metadata: { ...document.metadata, ...section.metadata },
      };
      isFirst = false;
    }
  }
}

/** Halves the passages that do not fit the model, and names them. */
export async function* fittingChunks(cuts: AsyncIterable<Cut>, fits: Fits): AsyncGenerator<Chunk> {
  const anchors = new PartAnchors();
  let part = 0;
  for await (const { isFirst, above, body, anchor, ...facts } of cuts) {
    if (isFirst) part = 0;
    for await (const text of fitting(body, above, fits)) {
      part++;
      yield { ...facts, anchor: anchors.of(anchor, part), text: above === '' ? text : `${above}\n\n${text}` };
    }
  }
}

/** Names the parts of sections. A row may have the id that a part of another row would have. */
class PartAnchors {
  readonly #taken = new Set<string>();

  of(anchor: string, part: number): string {
    let name = part === 1 ? anchor : `${anchor}~${part}`;
    while (this.#taken.has(name)) name += '~';
    this.#taken.add(name);
    return toUSVString(name);
  }
}

function headingsLine(title: string | undefined, { headings }: Section): string {
  const line = [...(title === undefined ? [] : [title]), ...headings].join(' > ');
  return toUSVString(line.slice(0, longestHeadings));
}

/** The least body of a chunk under long headings. */
const minBody = 200;

/** Longest head of a table that is repeated. */
const longestHead = 500;

/** A chunk that is this full ends before a block that would have to be split. */
const fullEnough = 1 / 3;

/** Packs blocks into chunks of similar sizes. Blocks are split only if they must be. */
function* packed(blocks: readonly Block[], options: ChunkOptions, above: number): Generator<Piece[]> {
  const room = Math.max(minBody, options.size - above);
  const total = blocks.reduce((sum, { text }) => sum + text.length, 0);
  // Chunks of one size are better than full ones and a scrap.
  const target = total / Math.max(1, Math.ceil(total / room));
  let chunk: Piece[] = [];
  let length = 0;
  for (const block of blocks) {
    const isSplit = length + block.text.length > room && length > room * fullEnough;
    const head = block.head?.slice(0, longestHead);
    const short = head === undefined ? block : { ...block, head };
    for (const [at, piece] of piecesOf(short, room).entries()) {
      const grown = length + piece.text.length;
      const ends = (at === 0 && isSplit) || grown > room || grown - target > target - length;
      if (chunk.length > 0 && ends) {
        yield chunk;
        chunk = repeated(chunk, options.overlap);
        length = lengthOf(chunk);
      }
      chunk.push(piece);
      length += piece.text.length;
    }
  }
  if (chunk.length > 0) yield chunk;
}

const lengthOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { text }) => sum + text.length, 0);

/** The last sentences of a chunk. */
function repeated(chunk: readonly Piece[], overlap: number): Piece[] {
  let length = 0;
  let first = chunk.length;
  while (first > 1) {
    const piece = chunk[first - 1] as Piece;
    length += piece.text.length;
    if (piece.kind !== 'prose' || length > overlap) break;
    first--;
  }
  return chunk.slice(first);
}

/** Text that shows something. */
const visible = /[\p{L}\p{N}\p{S}]/u;

async function* fitting(body: string, above: string, fits: Fits): AsyncGenerator<string> {
  const text = toUSVString(body.trim());
  if (!visible.test(text)) return;
  const fit = await fits(above === '' ? text : `${above}\n\n${text}`);
  if (fit === 'no tokens') return;
  if (fit === 'fits' || text.length < 2) {
    yield text;
    return;
  }
  const middle = boundary(text);
  yield* fitting(text.slice(0, middle), above, fits);
  yield* fitting(text.slice(middle), above, fits);
}

/** The best place to halve a text: near its middle, after a line, else after a word, else between characters. */
function boundary(text: string): number {
  const half = Math.floor(text.length / 2);
  for (const mark of ['\n', ' ']) {
    const before = text.lastIndexOf(mark, half);
    if (before > text.length / 4) return before + 1;
    const after = text.indexOf(mark, half);
    if (after > 0 && after < (text.length * 3) / 4) return after + 1;
  }
  return /[\uDC00-\uDFFF]/.test(text[half] as string) ? half + 1 : half;
}
