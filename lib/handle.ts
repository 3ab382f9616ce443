import { LorekeepError, translateError } from './errors.js';
import { mayHold, nextTurn } from './event-loop-share.js';
import type { NativeCancelToken, NativeHandle } from './native.js';
import { callNative, signalArgument } from './native-call.js';

/** What every object that holds native memory can do. */
export abstract class Handle<Native extends NativeHandle> implements AsyncDisposable {
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
   * Refuses new calls at once (they reject with CLOSED), waits for pending ones and gives the memory back.
   * Calling it again is fine. An object that is never closed is freed when it is garbage-collected.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal What other calls hand to the addon. @throws CLOSED */
  get handle(): Native {
    if (this.closed) throw this.#usedAfterClose();
    return this.native;
  }

  /** Every getter goes through here: it answers until close() has given the memory back. @throws CLOSED */
  protected read<T>(get: (native: Native) => T): T {
    try {
      return get(this.native);
    } catch (error) {
      throw translateError(error);
    }
  }

  /** Every method that takes work goes through here: it is refused after close(), and close() waits for it. */
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
   * A search on this thread where the event loop can spare the time (event-loop-share.ts), else on others. `now` gives
   * undefined where the search would take too long for this thread; without it there is none that is short.
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
