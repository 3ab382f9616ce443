import { LorekeepError, translateError } from './errors.js';
import { mayHold, nextTurn } from './event-loop-share.js';
import type { NativeCancelToken, NativeHandle } from './native.js';
import { callNative, signalArgument } from './native-call.js';

/** The base of every object that owns native memory. */
export abstract class Handle<Native extends NativeHandle> implements AsyncDisposable, Disposable {
  protected readonly native: Native;
  readonly #pending = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  protected constructor(native: Native) {
    this.native = native;
  }

  /** True as soon as close() has been called. */
  get closed(): boolean {
    return this.#closing !== undefined || this.native.closed;
  }

  /**
   * Refuses new calls at once (they reject with CLOSED), waits for pending ones and frees the memory.
   * May be called again. An object that is never closed is freed when it is garbage-collected.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For `using`: closes without waiting for it, and drops its errors. */
  [Symbol.dispose](): void {
    this.close().catch(() => {});
  }

  /** @internal The native object, as an argument for the addon. @throws CLOSED */
  get handle(): Native {
    if (this.closed) throw this.#usedAfterClose();
    return this.native;
  }

  /** Reads a property; works until close() has freed the memory. Every getter uses it. @throws CLOSED */
  protected read<T>(get: (native: Native) => T): T {
    try {
      return get(this.native);
    } catch (error) {
      throw translateError(error);
    }
  }

  /** Runs a call that close() waits for. Every asynchronous method uses it. @throws CLOSED after close() */
  protected run<T>(
    signal: AbortSignal | undefined,
    call: (native: Native, cancel: NativeCancelToken | undefined) => Promise<T>,
  ): Promise<T> {
    if (this.closed) return Promise.reject(this.#usedAfterClose());
    const pending = callNative(signal, (cancel) => call(this.native, cancel));
    this.#pending.add(pending);
    const done = () => this.#pending.delete(pending);
    pending.then(done, done);
    return pending;
  }

  /**
   * Searches on this thread if the event loop can spare the time (event-loop-share.ts), else on others. `now` returns
   * undefined if the search takes too long for this thread; it is undefined for searches that are never short.
   */
  protected async runSearch<T>(
    signal: AbortSignal | undefined,
    now: (() => T | undefined) | undefined,
    later: (native: Native, cancel: NativeCancelToken | undefined) => Promise<T>,
  ): Promise<T> {
    signalArgument(signal);
    if (now !== undefined && !this.closed && !signal?.aborted && mayHold()) {
      const found = now();
      if (found !== undefined) return found;
    }
    return this.run(signal, async (native, cancel) => {
      const turn = now !== undefined && !mayHold() ? nextTurn() : undefined;
      await turn;
      const found = turn && !signal?.aborted ? now?.() : undefined;
      return found ?? later(native, cancel);
    });
  }

  #usedAfterClose(): LorekeepError {
    return new LorekeepError('CLOSED', `${this.constructor.name}: used after close()`);
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#pending);
    await callNative(undefined, () => this.native.close());
  }
}
