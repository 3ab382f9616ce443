/** A passage that is not split if it fits into a chunk. */
export interface Block {
  /** Code keeps its lines and spaces. Items and rows of one list or table have no blank line between them. */
  kind: 'prose' | 'item' | 'code' | 'row';
  text: string;
  /** Repeated above the rest if the block is split or begins a chunk: the head of a table; of code, its language. */
  head?: string;
}

/** The text between two headings, or one page or row. */
export interface Section {
  /** Headings above the text, outermost first, without the document's title. */
  headings: readonly string[];
  /** Names the section within its file; "" for the text before the first heading. */
  anchor: string;
  /** Counted from 1. */
  page?: number;
  /** Title of a row, in place of the document's. */
  title?: string;
  /** Values of a row's mapped columns. */
  metadata?: Readonly<Record<string, unknown>>;
  blocks: readonly Block[];
}

/** The text of a file, in reading order. */
export interface Document {
  /** Undefined: the document states none. */
  title?: string | undefined;
  /** Values that every section has. */
  metadata?: Readonly<Record<string, unknown>> | undefined;
  sections: Iterable<Section> | AsyncIterable<Section>;
  /** Parts that could not be read; complete when the sections have been read. */
  problems?: readonly string[];
  /** The program that would be needed to read a part of it; known when the sections have been read. */
  missing?: string | undefined;
}

/** A file that cannot be indexed. The message is the reason, without the file's name. */
export class UnreadableDocument extends Error {
  override readonly name = 'UnreadableDocument';
  /** The package or program that would be needed to read it. */
  readonly missing: string | undefined;

  constructor(reason: string, options: ErrorOptions & { missing?: string } = {}) {
    super(reason, options);
    this.missing = options.missing;
  }
}
