import { resolve } from 'node:path';
import { choiceArgument, integerArgument, stringArgument, threadsArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError, translateError } from '../boundary/errors.js';
import { placements } from '../boundary/layout.gen.js';
import { ModelHandle } from '../boundary/model-handle.js';
import type {
  EmbedResult,
  ItemError,
  ModelFacts,
  NativeBackendInfo,
  NativeEmbeddingModel,
} from '../boundary/native.js';
import {
  type CallOptions,
  callNative,
  describe,
  type ProgressOptions,
  toArena,
} from '../boundary/native-call.js';
import { ComputeSettingsCache } from '../devices/settings-cache.js';

export type { EmbedResult, ItemError, ModelFacts } from '../boundary/native.js';

export type Pooling = 'mean' | 'cls' | 'last';

export interface LoadModelOptions extends ProgressOptions {
  /** Longest text in tokens, special tokens included. 0 (default): the model's training context, at most 8192. */
  contextSize?: number | undefined;
  /** How token vectors are pooled into one. Default: as stated in the file; required if the file does not state it. */
  pooling?: Pooling | undefined;
  /** Embedding threads; 0 (default): all that the process may use. */
  threads?: number | undefined;
  /**
   * `llama.cpp`, or for BERT models on a processor that supports it `avx2`, `avx512`, `avx512-bf16`, `amx-bf16` or (Q8_0
   * files only) `avx512-vnni`. Default: the fastest one measured for this model on this machine; the first load measures.
   */
  runtime?: string | undefined;
  /**
   * `ram`: on the CPU; `vram`: on the GPU of useBackend(), or the load fails; `auto` (default): on that GPU if the model
   * has at least 100 million parameters and there is room.
   */
  placement?: 'ram' | 'vram' | 'auto' | undefined;
}

/** Maximum number of failed texts listed in an error message; `detail.items` holds all of them. */
const listedErrors = 3;

/** A GGUF embedding model. Calls may overlap. */
export class EmbeddingModel extends ModelHandle<NativeEmbeddingModel> {
  /**
   * Loads a model file after checking it.
   * @throws NOT_FOUND, IO, MODEL_INVALID (not GGUF, truncated, damaged, without embeddings), UNSUPPORTED, CANCELLED.
   */
  static async load(path: string, options: LoadModelOptions = {}): Promise<EmbeddingModel> {
    const file = stringArgument('path', path);
    const cache = ComputeSettingsCache.ofUser();
    const native = {
      contextSize: integerArgument('contextSize', options.contextSize, 0, 0, 1_048_576),
      pooling: options.pooling && choiceArgument('pooling', options.pooling, 'mean', ['mean', 'cls', 'last']),
      threads: threadsArgument(options.threads),
      runtime: options.runtime && stringArgument('runtime', options.runtime),
      placement: placements.indexOf(choiceArgument('placement', options.placement, 'auto', placements)),
    };
    return callNative(options.signal, async (cancel) => {
      const known = options.runtime ? [] : await cache.read();
      const loaded = await binding.loadEmbeddingModel(file, { ...native, known }, cancel, options.onProgress);
      await cache.keep({ ...loaded.facts, path: resolve(file) }, known);
      return new EmbeddingModel(loaded);
    });
  }

  get facts(): ModelFacts {
    return this.read((native) => native.facts);
  }

  get dimension(): number {
    return this.read((native) => native.facts.dimension);
  }

  /**
   * Embeds texts into one row-major Float32Array (texts x dimension, rows of length 1, in input order). A text's
   * vector does not depend on the other texts of the call (cosine >= 0.999).
   * @throws TEXT_TOO_LONG or INVALID_ARGUMENT when any text fails; `detail.items` names each with its token count and
   * the limit. Use embedSettled() to keep the others.
   */
  async embed(texts: string | readonly string[], options: ProgressOptions = {}): Promise<Float32Array> {
    const single = typeof texts === 'string';
    const { vectors, errors } = await this.embedSettled(single ? [texts] : texts, options);
    if (errors.length > 0) throw itemsError(errors, single ? () => 'text' : (index) => `texts[${index}]`);
    return vectors;
  }

  /**
   * Like embed(), but reports texts that fail instead of throwing. `truncate` (internal): embeds the beginning of a text that is too
   * long.
   * @throws CLOSED, CANCELLED, OUT_OF_MEMORY, DEVICE_LOST: the GPU failed; load the model again
   */
  async embedSettled(
    texts: readonly string[],
    options: ProgressOptions & { truncate?: boolean | undefined } = {},
  ): Promise<EmbedResult> {
    return this.run(options.signal, async (native, cancel) => {
      const arena = await toArena(texts, 'texts', options.signal);
      return native.embed(arena, cancel, options.onProgress, options.truncate === true);
    });
  }

  /** Returns the ids of the tokens of a text, special tokens included. */
  async tokens(text: string, { signal }: CallOptions = {}): Promise<Int32Array> {
    if (typeof text !== 'string') {
      throw new LorekeepError('INVALID_ARGUMENT', `text: a string is expected, not ${describe(text)}`);
    }
    return this.run(signal, (native, cancel) => native.tokens(text, cancel));
  }

  /** Returns the number of tokens in a text, special tokens included. */
  async countTokens(text: string, options: CallOptions = {}): Promise<number> {
    return (await this.tokens(text, options)).length;
  }
}

/** `name`: returns the caller's name for the text at an index. */
function itemsError(items: readonly ItemError[], name: (index: number) => string): LorekeepError {
  const first = items[0] as ItemError;
  const lines = items.slice(0, listedErrors).map((item) => `${name(item.index)}: ${item.message}`);
  if (items.length > listedErrors) lines.push(`and ${items.length - listedErrors} more`);
  return new LorekeepError(first.code, lines.join('; '), {
    index: first.index,
    tokens: first.tokens,
    limit: first.limit,
    // Node.js prints the whole of an uncaught error, but not what getters return.
    get items() {
      return items;
    },
  });
}

export type BackendInfo = NativeBackendInfo;

/** Returns the compute backends next to the addon, loading them if necessary. @throws UNSUPPORTED if none fits. */
export function backends(): BackendInfo[] {
  try {
    return binding.backends();
  } catch (error) {
    throw translateError(error);
  }
}
