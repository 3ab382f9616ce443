import type { FileHandle } from 'node:fs/promises';
import { type Document, UnreadableDocument } from './document.js';
import { decodeHtml, decodeText, openDocument, readBytes } from './files/read-file.js';
import { type Format, formatOf } from './formats/formats.js';
import { readHtml } from './formats/html.js';
import { readMarkdown } from './formats/markdown.js';
import { PdfReader } from './formats/pdf.js';
import { readText } from './formats/text.js';
import { rowSections, type TableMapping } from './tables/mapping.js';
import { csvRows, jsonLines } from './tables/rows.js';

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
      return await use(await this.#document(file, formatOf(path) ?? 'text', signal));
    } finally {
      await file.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pdf.close();
  }

  async #document(file: FileHandle, format: Format, signal: AbortSignal | undefined): Promise<Document> {
    if (format === 'json-lines') return this.#table(jsonLines(file));
    if (format === 'csv' || format === 'tsv')
      return this.#table(csvRows(file, format === 'csv' ? undefined : '\t'));
    const bytes = await readBytes(file);
    if (format === 'pdf') return this.#pdf.read(bytes, signal);
    const text = format === 'html' ? decodeHtml(bytes) : decodeText(bytes);
    if (text.trim() === '') throw new UnreadableDocument('is empty');
    if (format === 'html') return readHtml(text);
    return format === 'markdown' ? readMarkdown(text) : readText(text);
  }

  #table(rows: Parameters<typeof rowSections>[0]): Document {
    const problems: string[] = [];
    return { sections: rowSections(rows, this.#mapping, problems), problems };
  }
}
