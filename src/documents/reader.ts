import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { type Document, UnreadableDocument } from './document.js';
import { decodeHtml, decodeText } from './files/encoding.js';
import { openDocument, readBytes } from './files/read-file.js';
import { type Format, formatOf } from './formats/formats.js';
import { PdfReader } from './formats/pdf.js';
import { readText } from './formats/text.js';
import { rowSections, type TableMapping } from './tables/mapping.js';
import { csvRows, jsonLines } from './tables/rows.js';

/** What the readers of one DocumentReader share. */
interface Reading {
  readonly path: string;
  readonly mapping: TableMapping;
  readonly pdf: PdfReader;
  readonly signal: AbortSignal | undefined;
}

/** Reads an open file. @throws UnreadableDocument, also while sections are read; the signal's reason */
type Reader = (file: FileHandle, reading: Reading) => Document | Promise<Document>;

const readers = {
  // Parsers are loaded with the first file that needs them.
  markdown: ofText(decodeText, async (text) =>
    (await import('./formats/markdown/markdown.js')).readMarkdown(text),
  ),
  html: ofText(decodeHtml, async (text) => (await import('./formats/html/html.js')).readHtml(text)),
  xhtml: ofText(decodeHtml, async (text) => (await import('./formats/html/html.js')).readXhtml(text)),
  text: ofText(decodeText, readText),
  restructured: ofText(decodeText, async (text) =>
    (await import('./formats/marked-text.js')).readRestructured(text),
  ),
  asciidoc: ofText(decodeText, async (text) => (await import('./formats/marked-text.js')).readAsciiDoc(text)),
  org: ofText(decodeText, async (text) => (await import('./formats/marked-text.js')).readOrg(text)),
  json: ofText(decodeText, async (text) => (await import('./formats/json.js')).readJson(text)),
  notebook: ofText(decodeText, async (text) => (await import('./formats/notebook.js')).readNotebook(text)),
  xml: ofText(decodeHtml, async (text) => (await import('./formats/xml.js')).readXml(text)),
  code: ofText(decodeText, async (text, path) =>
    (await import('./formats/source-code.js')).readCode(text, extname(path).slice(1).toLowerCase()),
  ),
  pdf: async (file, { pdf, signal }) => pdf.read(await readBytes(file), signal),
  word: ofBytes(async (bytes) => (await import('./formats/office/word.js')).readWord(bytes)),
  spreadsheet: ofBytes(async (bytes) =>
    (await import('./formats/office/spreadsheet.js')).readSpreadsheet(bytes),
  ),
  presentation: ofBytes(async (bytes) =>
    (await import('./formats/office/presentation.js')).readPresentation(bytes),
  ),
  'open-document': ofBytes(async (bytes) =>
    (await import('./formats/office/open-document.js')).readOpenDocument(bytes),
  ),
  epub: ofBytes(async (bytes) => (await import('./formats/office/epub.js')).readEpub(bytes)),
  'json-lines': ofRows(jsonLines),
  csv: ofRows((file) => csvRows(file)),
  tsv: ofRows((file) => csvRows(file, '\t')),
} satisfies Record<Format, Reader>;

/** Reads files of every format. */
export class DocumentReader implements AsyncDisposable {
  readonly #mapping: TableMapping;
  readonly #pdf = new PdfReader();

  constructor(mapping: TableMapping = {}) {
    this.#mapping = mapping;
  }

  /**
   * Reads a file; an unknown ending is plain text. The sections must be read before the result ends.
   * @throws UnreadableDocument, also while sections are read; the signal's reason
   */
  async read<T>(path: string, use: (document: Document) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const file = await openDocument(path);
    try {
      const reader: Reader = readers[formatOf(path) ?? 'text'];
      return await use(await reader(file, { path, mapping: this.#mapping, pdf: this.#pdf, signal }));
    } finally {
      await file.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pdf.close();
  }
}

function ofBytes(read: (bytes: Buffer) => Document | Promise<Document>): Reader {
  return async (file) => {
    const bytes = await readBytes(file);
    if (bytes.length === 0) throw new UnreadableDocument('is empty');
    return read(bytes);
  };
}

function ofText(
  decode: (bytes: Buffer) => string,
  read: (text: string, path: string) => Document | Promise<Document>,
): Reader {
  return async (file, { path }) => {
    const text = decode(await readBytes(file));
    if (text.trim() === '') throw new UnreadableDocument('is empty');
    return read(text, path);
  };
}

function ofRows(rowsOf: (file: FileHandle) => Parameters<typeof rowSections>[0]): Reader {
  return (file, { mapping }) => {
    const problems: string[] = [];
    return { sections: rowSections(rowsOf(file), mapping, problems), problems };
  };
}
