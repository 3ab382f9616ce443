import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { type Document, UnreadableDocument } from './document.js';
import { decodeHtml, decodeText } from './files/encoding.js';
import { openDocument, readBytes } from './files/read-file.js';
import { type Format, formatOf, isPicture } from './formats/formats.js';
import type { ReadAttachment } from './formats/mail/attachments.js';
import { PdfReader } from './formats/pdf.js';
import { joinWords } from './formats/pdf-text.js';
import { readPages, readText } from './formats/text.js';
import type { Recognizer } from './ocr/scan.js';
import { textOfScan } from './ocr/scan-text.js';
import { jsonLines } from './tables/json-rows.js';
import { rowSections, type TableMapping } from './tables/mapping.js';
import { csvRows } from './tables/rows.js';

/** What the readers of one DocumentReader share. */
interface Reading {
  readonly path: string;
  readonly mapping: TableMapping;
  readonly pdf: PdfReader;
  /** Reads scans; undefined: they are not read. */
  readonly recognizer: Recognizer | undefined;
  /** Whether only the main text of web pages is read. */
  readonly readability: boolean;
  readonly signal: AbortSignal | undefined;
  /** How many mails hold this file. */
  readonly depth: number;
}

/** Reads an open file. @throws UnreadableDocument, also while sections are read; the signal's reason */
type Reader = (file: FileHandle, reading: Reading) => Document | Promise<Document>;

/** Reads the bytes of a file. @throws as Reader */
type BytesReader = (bytes: Buffer, reading: Reading) => Document | Promise<Document>;

/** Mails within mails are read to this depth. */
const deepestMail = 3;

const bytesReaders = {
  // Parsers are loaded with the first file that needs them.
  markdown: ofText(decodeText, async (text) =>
    (await import('./formats/markdown/markdown.js')).readMarkdown(text),
  ),
  mdx: ofText(decodeText, async (text) => (await import('./formats/markdown/markdown.js')).readMdx(text)),
  html: ofPage('readHtml'),
  xhtml: ofPage('readXhtml'),
  text: ofText(decodeText, readText),
  yaml: ofText(decodeText, async (text) => (await import('./formats/settings.js')).readYaml(text)),
  settings: ofText(decodeText, async (text) => (await import('./formats/settings.js')).readSettings(text)),
  restructured: ofText(decodeText, async (text) =>
    (await import('./formats/marked/restructured.js')).readRestructured(text),
  ),
  asciidoc: ofText(decodeText, async (text) =>
    (await import('./formats/marked/asciidoc.js')).readAsciiDoc(text),
  ),
  org: ofText(decodeText, async (text) => (await import('./formats/marked/org.js')).readOrg(text)),
  json: ofText(decodeText, async (text) => (await import('./formats/json.js')).readJson(text)),
  notebook: ofText(decodeText, async (text) => (await import('./formats/notebook.js')).readNotebook(text)),
  xml: ofText(decodeHtml, async (text) => (await import('./formats/xml.js')).readXml(text)),
  code: ofText(decodeText, async (text, path) =>
    (await import('./formats/source-code.js')).readCode(text, extname(path).slice(1).toLowerCase()),
  ),
  pdf: (bytes, { pdf, signal, recognizer }) => pdf.read(bytes, signal, recognizer),
  image: ofBytes(async (bytes, { recognizer }) => {
    if (recognizer === undefined) throw new UnreadableDocument('is a picture; --ocr reads its text');
    const scanned = await recognizer.recognize({ kind: 'image', bytes });
    const pages = joinWords(scanned.map(textOfScan));
    if (pages.every((text) => text === '')) throw new UnreadableDocument('OCR finds no text');
    return pages.length === 1 ? readText(pages[0] as string) : readPages(pages, undefined);
  }),
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
  rtf: ofBytes(async (bytes) => (await import('./formats/rtf.js')).readRtf(bytes)),
  calendar: ofText(decodeText, async (text) =>
    (await import('./formats/cards/calendar.js')).readCalendar(text),
  ),
  contacts: ofText(decodeText, async (text) =>
    (await import('./formats/cards/contacts.js')).readContacts(text),
  ),
  mail: ofBytes(async (bytes, reading) =>
    (await import('./formats/mail/mail.js')).readMail(bytes, attachmentsOf(reading)),
  ),
} satisfies Partial<Record<Format, BytesReader>>;

/** Readers of files of any length. */
const streamReaders = {
  mailbox: async (file, reading) =>
    (await import('./formats/mail/mailbox.js')).readMailbox(file, attachmentsOf(reading)),
  'json-lines': ofRows(jsonLines),
  csv: ofRows((file) => csvRows(file)),
  tsv: ofRows((file) => csvRows(file, '\t')),
} satisfies Record<Exclude<Format, keyof typeof bytesReaders>, Reader>;

const bytesReaderOf = (format: Format): BytesReader | undefined =>
  format in bytesReaders ? bytesReaders[format as keyof typeof bytesReaders] : undefined;

/** The reader of a format. */
function readerOf(format: Format): Reader {
  const read = bytesReaderOf(format);
  if (read === undefined) return streamReaders[format as keyof typeof streamReaders];
  return async (file, reading) => read(await readBytes(file), reading);
}

/** Returns the reader of the files that come with a mail. Tables are read as text. */
function attachmentsOf(reading: Reading): ReadAttachment {
  return async (name, bytes) => {
    const format = formatOf(name);
    if (format === undefined || format === 'mailbox' || reading.depth >= deepestMail) return undefined;
    if (isPicture(name) && reading.recognizer === undefined) return undefined;
    const read = bytesReaderOf(format) ?? bytesReaders.text;
    return await read(bytes, { ...reading, path: name, depth: reading.depth + 1 });
  };
}

/** Reads files of every format. */
export class DocumentReader implements AsyncDisposable {
  readonly #mapping: TableMapping;
  readonly #pdf = new PdfReader();
  readonly #recognizer: Recognizer | undefined;
  readonly #readability: boolean;

  /** `recognizer` reads scans. Without it, they are not read. `readability`: only the main text of web pages is read. */
  constructor(mapping: TableMapping = {}, recognizer?: Recognizer, readability = false) {
    this.#mapping = mapping;
    this.#recognizer = recognizer;
    this.#readability = readability;
  }

  /**
   * Reads a file; an unknown ending is plain text. The sections must be read before the result ends.
   * @throws UnreadableDocument, also while sections are read; the signal's reason
   */
  async read<T>(path: string, use: (document: Document) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const file = await openDocument(path);
    try {
      const reader = readerOf(formatOf(path) ?? 'text');
      const reading = {
        path,
        mapping: this.#mapping,
        pdf: this.#pdf,
        recognizer: this.#recognizer,
        readability: this.#readability,
        signal,
        depth: 0,
      };
      return await use(await reader(file, reading));
    } finally {
      await file.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pdf.close();
  }
}

function ofBytes(read: BytesReader): BytesReader {
  return (bytes, reading) => {
    if (bytes.length === 0) throw new UnreadableDocument('is empty');
    return read(bytes, reading);
  };
}

function ofText(
  decode: (bytes: Buffer) => string,
  read: (text: string, path: string, reading: Reading) => Document | Promise<Document>,
): BytesReader {
  return (bytes, reading) => {
    const text = decode(bytes);
    if (text.trim() === '') throw new UnreadableDocument('is empty');
    return read(text, reading.path, reading);
  };
}

/** Reads a page as the function of this name does, or its main text alone. */
function ofPage(name: 'readHtml' | 'readXhtml'): BytesReader {
  return ofText(decodeHtml, async (text, _path, { readability }) => {
    const { [name]: read, readArticle } = await import('./formats/html/html.js');
    return readability ? await readArticle(text, read) : read(text);
  });
}

function ofRows(rowsOf: (file: FileHandle) => Parameters<typeof rowSections>[0]): Reader {
  return (file, { mapping }) => {
    const problems: string[] = [];
    return { sections: rowSections(rowsOf(file), mapping, problems), problems };
  };
}
