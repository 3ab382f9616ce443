import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { homeFolder } from '../../base/files/home.js';
import { untilAborted } from '../../base/waiting/until-aborted.js';
import { FairSlots } from '../../fairness/fair-slots.js';
import { serverError } from '../../protocol/errors.js';
import type { PatternReply, PatternRequest } from './pattern-messages.js';

/** A client's way to the thread of patterns. */
export interface PatternShare {
  /** Waits for the client's turn and for the thread's answer. @throws the signal's reason */
  run(request: PatternRequest, signal?: AbortSignal): Promise<PatternReply>;
}

/** The compiled file, also where this one runs uncompiled. */
const workerFile = join(homeFolder, 'dist/src/agents/lists/pattern-worker.js');

/** An unused thread ends after this, with the patterns that it keeps. */
const idleMs = 30_000;

const maxHeapMiB = 256;

const never = new AbortController().signal;

/**
 * Compiles patterns and searches for them on a separate thread, one request at a time: a hostile pattern takes seconds and cannot
 * be interrupted, and the event loop does not wait for it. Clients take turns.
 */
export class PatternThread {
  readonly #slots = new FairSlots(1);
  readonly #file: string;
  readonly #heapMiB: number;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ file = workerFile, heapMiB = maxHeapMiB } = {}) {
    this.#file = file;
    this.#heapMiB = heapMiB;
  }

  join(): PatternShare {
    const share = this.#slots.join();
    return {
      run: async (request, signal = never) => {
        const leave = await share.enter(signal);
        const answer = this.#ask(request).finally(leave);
        answer.catch(() => {});
        return untilAborted(answer, signal);
      },
    };
  }

  /** Ends the thread. Requests that run or wait fail with 1008. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#end();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #ask(request: PatternRequest): Promise<PatternReply> {
    clearTimeout(this.#idle);
    const worker = this.#start();
    return new Promise<PatternReply>((resolve, reject) => {
      const settled = () => {
        worker.off('message', answered).off('error', failed).off('exit', ended);
        worker.unref();
        this.#idle = setTimeout(() => void this.#end(), idleMs).unref();
      };
      const answered = (reply: PatternReply) => {
        settled();
        resolve(reply);
      };
      const failed = (error: Error) => {
        settled();
        void this.#end();
        reject(this.#closed ? stopping() : threadError(error));
      };
      const ended = () => failed(new Error('it ended'));
      worker.ref();
      worker.on('message', answered).on('error', failed).on('exit', ended);
      worker.postMessage(request);
    });
  }

  #start(): Worker {
    if (this.#closed) throw stopping();
    if (this.#worker !== undefined) return this.#worker;
    try {
      const worker = new Worker(this.#file, {
        resourceLimits: { maxOldGenerationSizeMb: this.#heapMiB },
        execArgv: [],
        stdout: true,
        stderr: true,
      });
      // It may also end while it is idle.
      worker
        .on('error', () => {})
        .on('exit', () => {
          if (this.#worker === worker) this.#worker = undefined;
        });
      this.#worker = worker;
      return worker;
    } catch (error) {
      throw threadError(error as Error);
    }
  }
}

const stopping = () => serverError(1008, 'the server is stopping');

/** Codes of Node.js for a thread that could not start, or whose heap was full. */
const shortages: ReadonlySet<unknown> = new Set(['ERR_WORKER_INIT_FAILED', 'ERR_WORKER_OUT_OF_MEMORY']);

function threadError(cause: Error & { code?: unknown }): Error {
  const message = `the pattern thread failed: ${cause.message}`;
  return shortages.has(cause.code)
    ? serverError(5003, message, {}, { cause })
    : new Error(message, { cause });
}
