import { LorekeepError } from './errors.js';
import { Handle } from './handle.js';
import type { NativeCancelToken, NativeHandle } from './native.js';
import { onAbort } from './on-abort.js';

/** A loaded model that may be on a GPU. */
export abstract class ModelHandle<Native extends NativeHandle> extends Handle<Native> {
  readonly #ending = new AbortController();
  #lost: LorekeepError | undefined;

  /** @internal The failure of its GPU: every later call fails with DEVICE_LOST, too. */
  get lost(): LorekeepError | undefined {
    return this.#lost;
  }

  /** As Handle.close(). `failing`: ends the pending calls within a step of the device; they reject with it. */
  override close(failing?: LorekeepError): Promise<void> {
    const closing = super.close();
    if (failing !== undefined) this.#ending.abort(failing);
    return closing;
  }

  /** Aborted, with the error, when pending calls shall end. */
  protected get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** @internal Runs a call with this model, which close() waits for. */
  override async run<T>(
    signal: AbortSignal | undefined,
    call: (native: Native, cancel: NativeCancelToken | undefined) => Promise<T>,
  ): Promise<T> {
    try {
      const result = await super.run(signal ?? this.ending, (native, cancel) => {
        const unlink = onAbort(signal && this.ending, () => cancel?.cancel());
        return call(native, cancel).finally(unlink);
      });
      this.ending.throwIfAborted();
      return result;
    } catch (error) {
      this.ending.throwIfAborted();
      if (error instanceof LorekeepError && error.code === 'DEVICE_LOST') this.#lost = error;
      throw error;
    }
  }
}
