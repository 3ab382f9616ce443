/** The thread in which PDF files are parsed, so that a file that takes too long can be stopped. */
import { parentPort } from 'node:worker_threads';
import { UnreadableDocument } from '../document.js';
import { optionalPackage } from './optional-package.js';
import type { PdfReply, PdfRequest } from './pdf-messages.js';
import { pageText, type TextItem } from './pdf-text.js';

/** The part of unpdf that is used. */
interface Unpdf {
  getDocumentProxy(
    bytes: Uint8Array,
    options: { verbosity: number; useSystemFonts: boolean },
  ): Promise<{
    numPages: number;
    getMetadata(): Promise<{ info?: { Title?: unknown } }>;
    getPage(number: number): Promise<{
      getTextContent(): Promise<{ items: TextItem[] }>;
      cleanup(): void;
    }>;
    destroy(): Promise<void>;
  }>;
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
  const document = await getDocumentProxy(bytes, { verbosity: 0, useSystemFonts: false });
  try {
    const { info } = await document.getMetadata().catch(() => ({ info: undefined }));
    const title = typeof info?.Title === 'string' ? info.Title : undefined;
    reply({ kind: 'opened', pages: document.numPages, title });
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      reply({ kind: 'page', text: pageText(items) });
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
