import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { onAbort } from '../../../lib/basics.js';
import { homeFolder } from '../../base/files/home.js';
import { type Document, UnreadableDocument } from '../document.js';
import type { Recognizer } from '../ocr/scan.js';
import { documentOf, type PdfContent } from './pdf-document.js';
import type { PageLine } from './pdf-lines.js';
import type { PdfReply, PdfRequest } from './pdf-messages.js';

/** Bounds of one document. A file may promise pages and streams that never end. */
export interface PdfLimits {
  /** Longest time for opening the document, and for each page. */
  pageMs: number;
  /** Longest time for the whole of it, which grows with its bytes up to a maximum: a small file may name one page very often. */
  documentMs: number;
  msPerMebibyte: number;
  mostMs: number;
  /** How much the process may grow. */
  bytes: number;
  pages: number;
  /** Characters of text. */
  characters: number;
}

export const pdfLimits: PdfLimits = {
  pageMs: 20_000,
  documentMs: 60_000,
  msPerMebibyte: 30_000,
  mostMs: 300_000,
  bytes: 2 ** 30,
  pages: 20_000,
  characters: 64 * 2 ** 20,
};

const watchMs = 50;

/** Reads PDF files one after the other on a thread of its own, which is ended when a file takes too much. */
export class PdfReader implements AsyncDisposable {
  readonly #limits: PdfLimits;
  #worker: Worker | undefined;

  constructor(limits = pdfLimits) {
    this.#limits = limits;
  }

  /**
   * `recognizer` reads pages without text. @throws UnreadableDocument; a document that breaks off has `problems`
   */
  async read(bytes: Buffer, signal?: AbortSignal, recognizer?: Recognizer): Promise<Document> {
    return documentOf(await this.#contentOf(bytes, signal), bytes, recognizer);
  }

  async #contentOf(bytes: Buffer, signal: AbortSignal | undefined): Promise<PdfContent> {
    signal?.throwIfAborted();
    const run = new PdfRun(this.#limits);
    const worker = this.#start();
    const stopListening = onAbort(signal, () => run.stop('was interrupted'));
    try {
      const content = await run.read(worker, bytes);
      if (run.broken) await this.close();
      signal?.throwIfAborted();
      return content;
    } catch (error) {
      await this.close();
      signal?.throwIfAborted();
      throw error;
    } finally {
      stopListening();
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    // The compiled file, also where this one runs uncompiled.
    const worker = new Worker(join(homeFolder, 'dist/src/documents/formats/pdf-worker.js'), {
      resourceLimits: { maxOldGenerationSizeMb: 1024 },
      stdout: true,
      stderr: true,
    });
    worker.unref();
    this.#worker = worker;
    return worker;
  }
}

/** The reading of one document. */
class PdfRun {
  readonly #limits: PdfLimits;
  readonly #pages: PageLine[][] = [];
  readonly #rss = process.memoryUsage.rss();
  readonly #began = performance.now();
  #lastReply = performance.now();
  #mostMs = 0;
  #expected = 0;
  #characters = 0;
  #title: string | undefined;
  #end: (problem?: string, missing?: string) => void = () => {};
  /** Whether the worker must not be used again. */
  broken = false;

  constructor(limits: PdfLimits) {
    this.#limits = limits;
  }

  async read(worker: Worker, bytes: Buffer): Promise<PdfContent> {
    const ended = new Promise<{ problem?: string | undefined; missing?: string | undefined }>((resolve) => {
      this.#end = (problem, missing) => resolve({ problem, missing });
    });
    const onMessage = (reply: PdfReply) => this.#on(reply);
    const onError = (error: Error) => this.stop(crashReason(error));
    const onExit = () => this.stop('its parser exited');
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.ref();
    const watch = setInterval(() => this.#watch(), watchMs);
    try {
      const { documentMs, msPerMebibyte, mostMs } = this.#limits;
      this.#mostMs = Math.min(mostMs, documentMs + (msPerMebibyte * bytes.length) / 2 ** 20);
      worker.postMessage({ bytes: Uint8Array.from(bytes) } satisfies PdfRequest);
      const { problem, missing } = await ended;
      return this.#content(problem, missing);
    } finally {
      clearInterval(watch);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      worker.unref();
    }
  }

  stop(problem: string): void {
    this.broken = true;
    this.#end(problem);
  }

  #content(problem: string | undefined, missing: string | undefined): PdfContent {
    const pages = this.#pages;
    if (problem === undefined) return { pages, title: this.#title, problem };
    if (pages.length === 0) throw new UnreadableDocument(problem, missing === undefined ? {} : { missing });
    const reason = `only the first ${pages.length} of ${this.#expected} pages are indexed: ${problem}`;
    return { pages, title: this.#title, problem: reason };
  }

  #on(reply: PdfReply): void {
    this.#lastReply = performance.now();
    if (reply.kind === 'end') this.#end();
    else if (reply.kind === 'failed') this.#end(reply.reason, reply.missing);
    else if (reply.kind === 'opened') {
      this.#title = reply.title?.trim() || undefined;
      this.#expected = reply.pages;
    } else {
      this.#pages.push(reply.lines);
      for (const { text } of reply.lines) this.#characters += text.length;
      if (this.#characters > this.#limits.characters) this.stop('it has too much text');
      if (this.#pages.length > this.#limits.pages) this.stop('it has too many pages');
    }
  }

  #watch(): void {
    const { pageMs, bytes } = this.#limits;
    const now = performance.now();
    const page = this.#pages.length + 1;
    if (now - this.#lastReply > pageMs) this.stop(`page ${page} takes more than ${pageMs / 1000} s`);
    else if (now - this.#began > this.#mostMs)
      this.stop(`it takes more than its share of time: ${Math.round(this.#mostMs / 1000)} s`);
    else if (process.memoryUsage.rss() - this.#rss > bytes)
      this.stop(`page ${page} takes more than ${Math.round(bytes / 2 ** 20)} MiB of memory`);
  }
}

function crashReason(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'it takes too much memory'
    : `its parser failed: ${error.message}`;
}
