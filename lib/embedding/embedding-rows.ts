import { dimensionArgument, stringArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { Handle } from '../boundary/handle.js';
import type { FileOwner, NativeEmbeddingRows } from '../boundary/native.js';
import { type CallOptions, callNative, type ProgressOptions } from '../boundary/native-call.js';
import type { Records } from '../search/records.js';
import type { EmbeddingModel, ItemError } from './embedding-model.js';

export interface MatchEmbeddingsOptions extends CallOptions {
  /** Numbers per embedding. */
  dimension: number;
  /** Path of the cache file, which may be absent. Default: none. */
  path?: string | undefined;
  /** Further cache files, for texts that the first one does not have. Default: none. */
  more?: readonly string[] | undefined;
  /** Identifies everything besides the text that an embedding depends on: model, prefix, context size. */
  key: string;
  /** Whether to reuse embeddings of truncated texts. Default false. */
  truncated?: boolean | undefined;
}

export interface EmbedRowsOptions extends ProgressOptions {
  /** Put before each text, as the model requires. Default: empty. */
  prefix?: string | undefined;
  /** Truncate texts that are too long for the model's context instead of reporting an error. Default false. */
  truncate?: boolean | undefined;
  /** Awaited about once a minute, between two portions, to save() the embeddings so far. Default: nothing. */
  checkpoint?: (() => Promise<unknown>) | undefined;
}

/** Time between two checkpoints: the most work that a killed process loses. */
const checkpointMs = 60_000;
/** Share of the time that checkpoints may take. */
const checkpointShare = 0.05;

/** Bytes of text per native call: seconds of work with a small model. Progress is reported after each call. */
const portionBytes = 64 * 1024;

/**
 * Collects the embeddings of records. Those in a cache file are reused; every other distinct text is embedded once. They
 * stay in native memory until VectorIndex.fromEmbeddings() takes them.
 */
export class EmbeddingRows extends Handle<NativeEmbeddingRows> {
  /**
   * Looks up each record's text in the cache file. A file that is absent, damaged, or made with another key is ignored,
   * and `refusal` gives the reason. @throws CANCELLED, OUT_OF_MEMORY
   */
  static async match(records: Records, options: MatchEmbeddingsOptions): Promise<EmbeddingRows> {
    const { path, more = [], key, truncated = false, signal } = options;
    const dimension = dimensionArgument(options.dimension);
    const files = path === undefined ? [] : [stringArgument('path', path), ...more];
    return callNative(
      signal,
      async (cancel) =>
        new EmbeddingRows(
          await binding.matchEmbeddings(records.handle, dimension, files, key, truncated, cancel),
        ),
    );
  }

  /** Distinct texts without an embedding. Each read counts them again. */
  get missing(): number {
    return this.read(() => this.handle.counts().missing);
  }

  /** Records whose embedding was in the cache file. */
  get reused(): number {
    return this.read(() => this.handle.counts().reused);
  }

  /** Records whose text was truncated. */
  get truncated(): number {
    return this.read(() => this.handle.counts().truncated);
  }

  /** Why the cache file was not used; undefined if it was used or none was given. */
  get refusal(): string | undefined {
    return this.read(() => this.handle.counts().refusal) || undefined;
  }

  /**
   * Embeds every text without an embedding. If aborted, keeps the finished embeddings.
   * @returns the number of texts embedded, and the errors of the others; `index` is the record's position.
   * @throws INVALID_ARGUMENT (other records or another dimension than in match()), CLOSED, CANCELLED, OUT_OF_MEMORY
   */
  async embed(
    records: Records,
    model: EmbeddingModel,
    options: EmbedRowsOptions = {},
  ): Promise<{ texts: number; errors: ItemError[] }> {
    const { prefix = '', truncate = false } = options;
    const native = { prefix, truncate, bytes: portionBytes };
    return this.#embedAll(options, async (rows) => {
      const part = await model.run(options.signal, (lent, cancel) =>
        rows.embedNext(records.handle, lent, native, cancel, undefined),
      );
      return { texts: part.texts, errors: part.errors as ItemError[] };
    });
  }

  /**
   * Like embed(), with a function that returns a row-major vector per text. `ordinals`: the position of a record of each text.
   * @throws errors of the function; INVALID_ARGUMENT for other numbers of vectors
   */
  async embedWith(
    records: Records,
    embed: (texts: readonly string[], ordinals: Uint32Array) => Promise<Float32Array>,
    options: Omit<EmbedRowsOptions, 'truncate'> = {},
  ): Promise<{ texts: number; errors: ItemError[] }> {
    const { prefix = '' } = options;
    return this.#embedAll(options, async (rows) => {
      options.signal?.throwIfAborted();
      const { ordinals, texts } = rows.nextTexts(records.handle, portionBytes);
      if (texts.length > 0)
        rows.fill(
          ordinals,
          await embed(
            texts.map((text) => prefix + text),
            ordinals,
          ),
        );
      return { texts: texts.length, errors: [] };
    });
  }

  #embedAll(
    { checkpoint, signal, onProgress }: EmbedRowsOptions,
    embedPart: (rows: NativeEmbeddingRows) => Promise<{ texts: number; errors: ItemError[] }>,
  ): Promise<{ texts: number; errors: ItemError[] }> {
    return this.run(signal, async (rows) => {
      const total = rows.counts().missing;
      const errors: ItemError[] = [];
      let texts = 0;
      let due = performance.now() + checkpointMs;
      while (texts < total) {
        const part = await embedPart(rows);
        if (part.texts === 0) break;
        texts += part.texts;
        errors.push(...part.errors);
        if (checkpoint !== undefined && texts < total && performance.now() >= due) {
          const started = performance.now();
          await checkpoint();
          const ended = performance.now();
          due = ended + Math.max(checkpointMs, (ended - started) / checkpointShare);
        }
        onProgress?.(texts / total);
      }
      return { texts, errors };
    });
  }

  /**
   * Writes the embeddings so far to a cache file, beside `path` and then renamed into place. @throws INVALID_ARGUMENT
   * (`path` is a file that is not an embeddings file), IO, CLOSED, CANCELLED
   */
  async save(path: string, options: CallOptions & { owner?: FileOwner | undefined } = {}): Promise<void> {
    const file = stringArgument('path', path);
    return this.run(options.signal, (native, cancel) => native.save(file, cancel, options.owner));
  }

  /**
   * Writes the embeddings of other cache files whose texts no record has to `path`, nothing for none. Returns their number.
   * @throws as save()
   */
  async saveOthers(
    path: string,
    files: readonly string[],
    options: CallOptions & { owner?: FileOwner | undefined } = {},
  ): Promise<number> {
    return this.run(options.signal, (native, cancel) =>
      native.saveOthers(path, files, cancel, options.owner),
    );
  }
}
