import { dimensionArgument, stringArgument } from './arguments.js';
import { binding } from './binding.js';
import type { EmbeddingModel, ItemError } from './embedding-model.js';
import { Handle } from './handle.js';
import type { FileOwner, NativeEmbeddingRows } from './native.js';
import { type CallOptions, callNative, type ProgressOptions } from './native-call.js';
import type { Records } from './records.js';

export interface MatchEmbeddingsOptions extends CallOptions {
  /** Numbers per embedding. */
  dimension: number;
  /** The cache file. It may be absent. Default: none. */
  path?: string | undefined;
  /** Names everything that an embedding depends on beside the text: model, prefix, context size. */
  key: string;
  /** Whether to take over embeddings of which only the text's beginning was embedded. Default false. */
  truncated?: boolean | undefined;
}

export interface EmbedRowsOptions extends ProgressOptions {
  /** What the model wants to see before each text. Default: nothing. */
  prefix?: string | undefined;
  /** Embed the beginning of a text that the model's context does not hold, in place of an error. Default false. */
  truncate?: boolean | undefined;
}

/** Text embedded by one native call: seconds of work with a small model, after which progress is told. */
const portionBytes = 64 * 1024;

/**
 * The embeddings of records while they are made: those that a cache file has are taken over, each other text is embedded
 * once, however many records have it. They live in native memory until VectorIndex.fromEmbeddings() takes them.
 */
export class EmbeddingRows extends Handle<NativeEmbeddingRows> {
  /**
   * Looks each record's text up in the cache file. A file that is absent, damaged, or made with another key is not used,
   * and `refusal` says why. @throws CANCELLED, OUT_OF_MEMORY
   */
  static async match(records: Records, options: MatchEmbeddingsOptions): Promise<EmbeddingRows> {
    const { path, key, truncated = false, signal } = options;
    const dimension = dimensionArgument(options.dimension);
    const file = path === undefined ? undefined : stringArgument('path', path);
    return callNative(
      signal,
      async (cancel) =>
        new EmbeddingRows(
          await binding.matchEmbeddings(records.handle, dimension, file, key, truncated, cancel),
        ),
    );
  }

  /** Different texts that have no embedding yet. Counts them. */
  get missing(): number {
    return this.handle.counts().missing;
  }

  /** Records whose embedding was in the cache file. */
  get reused(): number {
    return this.handle.counts().reused;
  }

  /** Records of whose text only the beginning was embedded. */
  get truncated(): number {
    return this.handle.counts().cut;
  }

  /** Why the cache file was not used; undefined when it was, or when there is to be none. */
  get refusal(): string | undefined {
    return this.handle.counts().refusal || undefined;
  }

  /**
   * Embeds every text that has no embedding. What was embedded stays when this is aborted.
   * @returns texts given to the model, and why some have no embedding; `index` is the record's position.
   * @throws INVALID_ARGUMENT (other records, or another dimension, than before), CLOSED, CANCELLED, OUT_OF_MEMORY
   */
  async embed(
    records: Records,
    model: EmbeddingModel,
    options: EmbedRowsOptions = {},
  ): Promise<{ texts: number; errors: ItemError[] }> {
    const { prefix = '', truncate = false, signal, onProgress } = options;
    const native = { prefix, truncate, bytes: portionBytes };
    return this.run(signal, async (rows, cancel) => {
      const total = rows.counts().missing;
      const errors: ItemError[] = [];
      let texts = 0;
      while (texts < total) {
        const part = await rows.embedNext(records.handle, model.handle, native, cancel, undefined);
        if (part.texts === 0) break;
        texts += part.texts;
        errors.push(...(part.errors as ItemError[]));
        onProgress?.(texts / total);
      }
      return { texts, errors };
    });
  }

  /**
   * Writes all embeddings that there are as a cache file: beside `path`, then renamed. @throws INVALID_ARGUMENT (another
   * file than one of embeddings is there), IO, CLOSED, CANCELLED
   */
  async save(path: string, options: CallOptions & { owner?: FileOwner | undefined } = {}): Promise<void> {
    const file = stringArgument('path', path);
    return this.run(options.signal, (native, cancel) => native.save(file, cancel, options.owner));
  }
}
