import { stringArgument } from './arguments.js';
import { Handle } from './handle.js';
import type { NativePrefix } from './native.js';
import type { CallOptions } from './native-call.js';

/** A computed prompt in the KV cache of a LanguageModel. It stays there until close(), or until the model closes. */
export class Prefix extends Handle<NativePrefix> {
  /** @internal */
  constructor(native: NativePrefix) {
    super(native);
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
    return this.run(signal, (native, cancel) => native.save(file, cancel));
  }
}
