import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { onAbort } from '../../../../lib/basics.js';
import { homeFolder } from '../../../base/files/home.js';
import type { ChunkOptions, Cut } from '../../../documents/chunks.js';
import { UnreadableDocument } from '../../../documents/document.js';
import type { Recognizer } from '../../../documents/ocr/scan.js';
import { Tesseract } from '../../../documents/ocr/tesseract.js';
import type { TableMapping } from '../../../documents/tables/mapping.js';
import type { FindOptions, FoundFile, ReadingReply, ReadingRequest, RecognizedScan } from './messages.js';

/** The share of one file: a constant, and more for each of its bytes. */
export interface ReadingShare {
  /** Milliseconds in which the thread works; not those in which it waits. */
  ms: number;
  msPerMebibyte: number;
  /** How much the process may grow. */
  bytes: number;
  bytesPerByte: number;
  /** Characters of its text, which are embedded: a small archive may have as many as it likes. */
  characters: number;
  charactersPerByte: number;
}

export const readingShare: ReadingShare = {
  ms: 10_000,
  msPerMebibyte: 5_000,
  bytes: 768 * 2 ** 20,
  bytesPerByte: 32,
  characters: 32 * 2 ** 20,
  charactersPerByte: 16,
};

/** Heap of the thread. A file that needs more ends it. */
const heapMebibytes = 2048;

const watchMs = 100;

/** How scans are read. */
export interface ScanOptions {
  /** Codes of tesseract, joined by "+". Undefined: English, or what is installed. */
  language: string | undefined;
}

/** What is known of a file when all of it was read. */
export interface ReadingEnd {
  /** Of its parts. */
  problems: readonly string[];
  /** The program that would be needed to read a part of it. */
  missing?: string | undefined;
}

/** A file to read. */
export interface FileToRead {
  /** Absolute. */
  path: string;
  bytes: number;
  mapping: TableMapping | undefined;
  chunking: ChunkOptions;
}

type Next = { done: false; reply: ReadingReply } | { done: true; reason: string };

/**
 * Finds, reads and cuts the files of a folder on a thread of its own. The thread is ended when a file takes more than its share,
 * and when the signal aborts; the next call starts another one.
 */
export class ReadingThread implements AsyncDisposable {
  readonly #share: ReadingShare;
  readonly #signal: AbortSignal | undefined;
  readonly #scans: ScanOptions | undefined;
  readonly #readability: boolean;
  #worker: Worker | undefined;
  #programs: { recognizer: Recognizer; stop: AbortController } | undefined;

  /** `scans`: how scans are read; undefined: they are not. `readability`: only the main text of web pages is read. */
  constructor(
    signal: AbortSignal | undefined,
    share = readingShare,
    scans?: ScanOptions,
    readability = false,
  ) {
    this.#signal = signal;
    this.#share = share;
    this.#scans = scans;
    this.#readability = readability;
  }

  /** Finds the files of a folder. @throws system errors for the folder itself; the signal's reason */
  async *find(folder: string, { include, exclude, gitignore, ocr }: FindOptions): AsyncGenerator<FoundFile> {
    const request = { kind: 'find', folder, options: { include, exclude, gitignore, ocr } } as const;
    for await (const reply of this.#replies(request, undefined)) {
      if (reply.kind === 'files') yield* reply.files;
      else if (reply.kind === 'error') throw Object.assign(new Error(reply.message), reply.facts);
    }
  }

  /** Reads and cuts a file. @throws UnreadableDocument, also after some cuts; the signal's reason */
  async *read({ path, bytes, mapping, chunking }: FileToRead): AsyncGenerator<Cut, ReadingEnd> {
    const ocr = this.#scans !== undefined;
    const readability = this.#readability;
    const request = { kind: 'read', path, mapping, chunking, ocr, readability } as const;
    const { characters, charactersPerByte } = this.#share;
    const most = characters + charactersPerByte * bytes;
    let found = 0;
    for await (const reply of this.#replies(request, bytes)) {
      if (reply.kind === 'cuts') {
        found += reply.cuts.reduce((sum, { above, body }) => sum + above.length + body.length, 0);
        if (found > most)
          throw new UnreadableDocument(`takes more than its share of text: ${most} characters`);
        yield* reply.cuts;
      } else if (reply.kind === 'end') return reply;
      else if (reply.kind === 'failed')
        throw new UnreadableDocument(
          reply.reason,
          reply.missing === undefined ? {} : { missing: reply.missing },
        );
    }
    return { problems: [] };
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#programs?.stop.abort(new Error('the reading thread ends'));
    this.#programs = undefined;
    await worker?.terminate();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The replies to a request, of which the last one is no batch. `bytes` of a file bound what it may take. */
  async *#replies(request: ReadingRequest, bytes: number | undefined): AsyncGenerator<ReadingReply> {
    this.#signal?.throwIfAborted();
    const worker = this.#start();
    const waiting: Next[] = [];
    let wake = () => {};
    const add = (next: Next) => {
      waiting.push(next);
      wake();
    };
    const onMessage = (reply: ReadingReply) => {
      if (reply.kind === 'scan') void this.#recognize(worker, reply);
      else add({ done: false, reply });
    };
    const onError = (error: Error) => add({ done: true, reason: crashReason(error) });
    const onExit = () => add({ done: true, reason: 'its reader ended' });
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.ref();
    const stopListening = onAbort(this.#signal, () => add({ done: true, reason: 'was interrupted' }));
    const watch =
      bytes === undefined ? undefined : this.#watch(worker, bytes, (reason) => add({ done: true, reason }));
    let isWhole = false;
    try {
      worker.postMessage(request);
      for (;;) {
        while (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        const next = waiting.shift() as Next;
        this.#signal?.throwIfAborted();
        if (next.done) throw new UnreadableDocument(next.reason);
        const isBatch = next.reply.kind === 'files' || next.reply.kind === 'cuts';
        isWhole = !isBatch;
        yield next.reply;
        if (isWhole) return;
        worker.postMessage({ kind: 'more' } satisfies ReadingRequest);
      }
    } finally {
      clearInterval(watch);
      stopListening();
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      worker.unref();
      if (!isWhole) await this.close();
    }
  }

  /** Has a scan read, and tells the thread. Never rejects. */
  async #recognize(worker: Worker, { id, scan }: Extract<ReadingReply, { kind: 'scan' }>): Promise<void> {
    this.#programs ??= this.#startPrograms();
    const result = await this.#programs.recognizer.recognize(scan).then(
      (texts): RecognizedScan => ({ texts }),
      (error: Error): RecognizedScan => ({
        reason: error.message,
        missing: error instanceof UnreadableDocument ? error.missing : undefined,
      }),
    );
    worker.postMessage({ kind: 'recognized', id, ...result } satisfies ReadingRequest);
  }

  #startPrograms() {
    const stop = new AbortController();
    return { recognizer: new Tesseract(this.#scans?.language, stop.signal), stop };
  }

  #watch(worker: Worker, bytes: number, stop: (reason: string) => void): NodeJS.Timeout {
    const { ms, msPerMebibyte, bytes: most, bytesPerByte } = this.#share;
    const mostMs = ms + (msPerMebibyte * bytes) / 2 ** 20;
    const mostBytes = most + bytesPerByte * bytes;
    const begin = worker.performance.eventLoopUtilization();
    const rss = process.memoryUsage.rss();
    return setInterval(() => {
      const { active } = worker.performance.eventLoopUtilization(begin);
      if (active > mostMs) stop(`takes more than its share of time: ${(mostMs / 1000).toFixed(1)} s`);
      else if (process.memoryUsage.rss() - rss > mostBytes)
        stop(`takes more than its share of memory: ${Math.round(mostBytes / 2 ** 20)} MiB`);
    }, watchMs);
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    // The compiled file, also where this one runs uncompiled.
    this.#worker = new Worker(join(homeFolder, 'dist/src/knowledge/folder/reading/worker.js'), {
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
      stdout: true,
      stderr: true,
    });
    // One that ends between two requests is no error of the process.
    this.#worker.on('error', () => {});
    return this.#worker;
  }
}

function crashReason(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'takes more than its share of memory'
    : `its reader failed: ${error.message}`;
}
