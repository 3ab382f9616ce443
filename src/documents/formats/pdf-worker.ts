/** The thread in which PDF files are parsed, so that a file that takes too long can be stopped. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { homeFolder } from '../../base/files/home.js';
import { UnreadableDocument } from '../document.js';
import { optionalPackage } from './optional-package.js';
import { type FormField, formLines } from './pdf-form.js';
import { pageLines, type TextItem } from './pdf-lines.js';
import type { PdfReply, PdfRequest } from './pdf-messages.js';
import { TexFonts } from './pdf-tex-fonts.js';

/** The part of unpdf that is used. */
interface Unpdf {
  getDocumentProxy(
    bytes: Uint8Array,
    options: {
      verbosity: number;
      useSystemFonts: boolean;
      cMapUrl: string;
      cMapPacked: boolean;
      BinaryDataFactory: typeof CharacterMaps;
    },
  ): Promise<{
    numPages: number;
    getMetadata(): Promise<{ info?: { Title?: unknown } }>;
    getPage(number: number): Promise<{
      view: number[];
      getTextContent(): Promise<{ items: TextItem[] }>;
      getAnnotations(): Promise<FormField[]>;
      cleanup(): void;
    }>;
    destroy(): Promise<void>;
  }>;
}

/** What programs write for a title that nobody gave. */
const noTitle = /^(?:untitled(?: document)?|\((?:anonymous|unspecified|untitled)\))$/i;

/** What printing programs write before the name of a file. */
const printed = /^Microsoft (?:Word|PowerPoint|Excel) - /;

const mapFolder = join(homeFolder, 'native/vendor/pdfjs-cmaps');

/** Gives pdf.js the predefined character maps: most East Asian PDFs name one and do not contain it. */
class CharacterMaps {
  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    if (kind !== 'cMapUrl' || !/^[\w-]{1,40}\.bcmap$/.test(filename)) throw new Error(`has no ${filename}`);
    return new Uint8Array(await readFile(join(mapFolder, filename)));
  }
}

const port = parentPort;
if (port === null) throw new Error('is the main module of a worker thread');
const reply = (message: PdfReply) => port.postMessage(message);

port.on('message', async ({ bytes }: PdfRequest) => {
  try {
    await read(bytes);
    reply({ kind: 'end' });
  } catch (error) {
    const { name, message } = error as Error;
    const missing = error instanceof UnreadableDocument ? error.missing : undefined;
    const known = error instanceof UnreadableDocument ? message : reasonOf(name, message);
    reply({ kind: 'failed', reason: known, ...(missing !== undefined && { missing }) });
  }
});

async function read(bytes: Uint8Array): Promise<void> {
  const { getDocumentProxy } = (await optionalPackage('unpdf')) as Unpdf;
  const document = await getDocumentProxy(bytes, {
    verbosity: 0,
    useSystemFonts: false,
    cMapUrl: '/', // has to be a folder; CharacterMaps reads the files
    cMapPacked: true,
    BinaryDataFactory: CharacterMaps,
  });
  try {
    const { info } = await document.getMetadata().catch(() => ({ info: undefined }));
    const stated = typeof info?.Title === 'string' ? info.Title.replace(printed, '').trim() : '';
    const title = noTitle.test(stated) ? undefined : stated;
    reply({ kind: 'opened', pages: document.numPages, title });
    const fonts = new TexFonts();
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      const form = formLines(await page.getAnnotations().catch(() => []));
      reply({ kind: 'page', lines: [...pageLines(fonts.read(items), page.view), ...form] });
      page.cleanup();
    }
  } finally {
    await document.destroy().catch(() => {});
  }
}

function reasonOf(name: string, message: string): string {
  if (name === 'PasswordException') return 'is protected by a password';
  return `is not a readable PDF: ${message}`;
}
