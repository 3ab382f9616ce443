import { stringArgument } from '../boundary/arguments.js';
import { LorekeepError } from '../boundary/errors.js';
import { Handle } from '../boundary/handle.js';
import type { NativeHandle, NativePrefix } from '../boundary/native.js';
import type { CallOptions } from '../boundary/native-call.js';

/** A computed prompt in the KV cache of a LanguageModel. It stays there until close(), or until the model closes. */
export class Prefix extends Handle<NativePrefix> {
  readonly #model: NativeHandle;

  /** @internal */
  constructor(native: NativePrefix, model: NativeHandle) {
    super(native);
    this.#model = model;
  }

  /** @internal @throws CLOSED; INVALID_ARGUMENT for a prefix of another model */
  requireOpen(model: NativeHandle): void {
    if (this.#model !== model)
      throw new LorekeepError('INVALID_ARGUMENT', 'prefix: it belongs to another model', { field: 'prefix' });
    void this.handle;
  }

  /** The prompt as tokens. */
  get tokens(): Int32Array {
    return this.read((native) => native.tokens);
  }

  /**
   * Writes the prefix to a file, for LanguageModel.loadPrefix().
   * @throws IO, INVALID_ARGUMENT (the destination is another kind of file), CLOSED
   */
  async save(path: string, { signal }: CallOptions = {}): Promise<void> {
    const file = stringArgument('path', path);
    // The addon may still hold the memory of a closed model for a moment.
    if (this.#model.closed) throw new LorekeepError('CLOSED', 'Prefix: used after close() of its model');
    return this.run(signal, (native, cancel) => native.save(file, cancel));
  }
}
