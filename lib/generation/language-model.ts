import { resolve } from 'node:path';
import {
  booleanArgument,
  choiceArgument,
  integerArgument,
  maxThreads,
  refuseUnknownFields,
  stringArgument,
} from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import { prefixPart as at, kvCacheTypes, placements, runtimes } from '../boundary/layout.gen.js';
import { ModelHandle } from '../boundary/model-handle.js';
import type {
  LanguageModelFacts,
  LanguageModelNumbers,
  NativeLanguageModel,
  NativeLanguageModelOptions,
  PrefixPart,
} from '../boundary/native.js';
import { type CallOptions, callNative, describe, type ProgressOptions } from '../boundary/native-call.js';
import { ComputeSettingsCache } from '../devices/settings-cache.js';
import {
  type ChatMessage,
  type ConsumerClass,
  type GenerateRequest,
  type Generation,
  type Prompt,
  type RenderedPrompt,
  type RenderOptions,
  startGeneration,
  startPrefix,
} from './generation.js';
import { messagesArgument, thinkingArgument } from './generation-request.js';
import { Prefix } from './prefix.js';

export type { LanguageModelFacts, LanguageModelNumbers, PrefixPart } from '../boundary/native.js';

/** Tokens of the prompt that a measurement computes. */
const measuredTokens = 128;
const maxContext = 1 << 24;
const maxBatch = 1 << 16;

export interface LanguageModelOptions extends ProgressOptions {
  /** Maximum number of tokens of a prompt and its reply. Default: the training context, at most 8192. */
  contextSize?: number | undefined;
  /**
   * `ram`: on the CPU; `vram`: on the GPU of useBackend(), or the load fails; `auto` (default): on that GPU if it has
   * room.
   */
  placement?: (typeof placements)[number] | undefined;
  /**
   * The runtime: `decoder` is lorekeep's own runtime for common architectures on the CPU, and a load fails if it cannot
   * compute the model; `llama.cpp` computes all models; `auto` (default): the faster one, by a measurement of the first load on a machine.
   */
  runtime?: (typeof runtimes)[number] | undefined;
  /** On a GPU: keeps the KV cache there, too. Default: true. */
  offloadKqv?: boolean | undefined;
  /** Threads that decode. 0 (default): all that the process may use. */
  threads?: number | undefined;
  /** Threads that process prompts. 0 (default): all that the process may use. */
  batchThreads?: number | undefined;
  /** Maximum number of tokens of a step. Default 512. */
  batchSize?: number | undefined;
  /** Cells of the KV cache, one per token, shared by all requests. Default: contextSize. */
  kvCells?: number | undefined;
  /**
   * Numbers of the KV cache: `f16` (default), or `q8_0` with 8 bits and half the memory. llama.cpp computes some models
   * with `f16` only, and all of them with `deterministic`.
   */
  kvCacheType?: (typeof kvCacheTypes)[number] | undefined;
  /** The same request gives the same text, whatever else runs. Slower, except with `decoder`. Default: false. */
  deterministic?: boolean | undefined;
}

const optionFields = {
  contextSize: true,
  placement: true,
  runtime: true,
  offloadKqv: true,
  threads: true,
  batchThreads: true,
  batchSize: true,
  kvCells: true,
  kvCacheType: true,
  deterministic: true,
  signal: true,
  onProgress: true,
} satisfies Record<keyof LanguageModelOptions, true>;

function nativeOptions(options: LanguageModelOptions): Omit<NativeLanguageModelOptions, 'known'> {
  refuseUnknownFields('options', options, optionFields);
  return {
    contextSize: integerArgument('contextSize', options.contextSize, 0, 0, maxContext),
    kvCells: integerArgument('kvCells', options.kvCells, 0, 0, maxContext),
    batchSize: integerArgument('batchSize', options.batchSize, 512, 1, maxBatch),
    threads: integerArgument('threads', options.threads, 0, 0, maxThreads),
    batchThreads: integerArgument('batchThreads', options.batchThreads, 0, 0, maxThreads),
    placement: placements.indexOf(choiceArgument('placement', options.placement, 'auto', placements)),
    runtime: runtimes.indexOf(choiceArgument('runtime', options.runtime, 'auto', runtimes)),
    kvCacheType: kvCacheTypes.indexOf(
      choiceArgument('kvCacheType', options.kvCacheType, 'f16', kvCacheTypes),
    ),
    offloadKqv: booleanArgument('offloadKqv', options.offloadKqv, true),
    deterministic: booleanArgument('deterministic', options.deterministic, false),
  };
}

/** Bytes. */
export interface MemoryEstimate {
  /** `device`: `CPU`, or the name of a GPU; `model`: weights; `context`: the KV cache; `compute`: buffers of a step. */
  readonly devices: readonly { device: string; model: number; context: number; compute: number }[];
  readonly total: number;
}

/** A GGUF language model that generates text. Calls may overlap: all share one KV cache and are computed together. */
export class LanguageModel extends ModelHandle<NativeLanguageModel> {
  /**
   * Loads a model file after checking it, and allocates its KV cache.
   * @throws NOT_FOUND, IO, MODEL_INVALID (not GGUF, truncated, damaged), UNSUPPORTED (an architecture that does not
   * generate text; placement `vram` without a GPU; runtime `decoder` for a model that it cannot compute), OUT_OF_MEMORY,
   * DEVICE_LOST, CANCELLED.
   */
  static async load(path: string, options: LanguageModelOptions = {}): Promise<LanguageModel> {
    const file = stringArgument('path', path);
    const native = nativeOptions(options);
    const cache = ComputeSettingsCache.ofUser('generation');
    return callNative(options.signal, async (cancel) => {
      const known = native.runtime === 0 ? await cache.read() : [];
      const loaded = await binding.loadLanguageModel(file, { ...native, known }, cancel, options.onProgress);
      const { facts } = loaded;
      if (facts.candidates.length > 0)
        await cache.keep({ ...facts, batchTokens: measuredTokens, path: resolve(file) }, known);
      return new LanguageModel(loaded);
    });
  }

  /**
   * Returns the memory that load() would take with these options, from the file's header alone. If the first load has
   * yet to choose a runtime, the need of the larger runtime. The process itself and replies not yet received come on top.
   * Throws as load() does.
   */
  static async estimate(path: string, options: LanguageModelOptions = {}): Promise<MemoryEstimate> {
    const file = stringArgument('path', path);
    const native = nativeOptions(options);
    return callNative(options.signal, async (cancel) => {
      const known = native.runtime === 0 ? await ComputeSettingsCache.ofUser('generation').read() : [];
      const ofFile = known.filter((entry) => entry.path === resolve(file));
      const devices = await binding.estimateLanguageModel(file, { ...native, known: ofFile }, cancel);
      const total = devices.reduce((sum, { model, context, compute }) => sum + model + context + compute, 0);
      return { devices, total };
    });
  }

  get facts(): LanguageModelFacts {
    return this.read((native) => native.facts);
  }

  /** Returns the state of the KV cache, after the step that is running now. */
  async numbers(): Promise<LanguageModelNumbers> {
    return this.run(undefined, (native) => native.numbers());
  }

  /**
   * Returns the tree of the prefixes in the KV cache, after the step that is running now: each part before the parts that continue it.
   * Texts are not in it.
   */
  async prefixes(): Promise<PrefixPart[]> {
    const numbers = await this.run(undefined, (native) => native.prefixes());
    const parts: PrefixPart[] = [];
    for (let part = 0; part < numbers.length; part += at.numbers) {
      const number = (position: number) => numbers[part + position] as number;
      parts.push({
        depth: number(at.depth),
        tokens: number(at.tokens),
        running: number(at.running),
        kept: number(at.kept),
        pinned: number(at.pinned),
        idleMs: number(at.idleMs),
      });
    }
    return parts;
  }

  /**
   * Removes every prompt and reply from the KV cache that has one of the texts, whatever their blanks and the case of ASCII letters.
   * Those of requests under way go with their end; an open Prefix stays. Returns their number. @throws INVALID_ARGUMENT
   */
  async forget(texts: readonly string[]): Promise<number> {
    if (!Array.isArray(texts) || texts.some((text) => typeof text !== 'string'))
      throw new LorekeepError('INVALID_ARGUMENT', 'texts: an array of strings is expected', {
        field: 'texts',
      });
    return this.run(undefined, (native) => native.forget(texts));
  }

  /** Returns the number of tokens in a plain text, without special tokens. @throws TEXT_TOO_LONG, CANCELLED */
  async countTokens(text: string, { signal }: CallOptions = {}): Promise<number> {
    if (typeof text !== 'string') {
      throw new LorekeepError('INVALID_ARGUMENT', `text: a string is expected, not ${describe(text)}`);
    }
    return this.run(signal, (native, cancel) => native.countTokens(text, cancel));
  }

  /**
   * Renders a conversation with the model's chat template. Contents of messages are tokenized as plain text: they cannot
   * spell a control token.
   * @throws UNSUPPORTED (no chat template), MODEL_INVALID (the template fails), INVALID_ARGUMENT (it refuses these
   * messages), TEXT_TOO_LONG, CANCELLED
   */
  async render(
    messages: readonly ChatMessage[],
    options: RenderOptions & CallOptions = {},
  ): Promise<RenderedPrompt> {
    refuseUnknownFields('options', options, { thinking: true, addGenerationPrompt: true, signal: true });
    const native = messagesArgument(messages);
    const mode = thinkingArgument(options.thinking);
    const begun = booleanArgument('addGenerationPrompt', options.addGenerationPrompt, true);
    return this.run(options.signal, (model, cancel) => model.render(native, mode, begun, cancel));
  }

  /**
   * Computes a prompt and keeps it in the KV cache until close(): prompts that begin with it skip that part. Loaded and
   * computed prefixes of one model are found by their tokens; requests need not name them.
   * @throws TEXT_TOO_LONG, OUT_OF_MEMORY (no room in the KV cache), CANCELLED
   */
  async prefix(
    prompt: Prompt,
    { signal, ...request }: CallOptions & { class?: ConsumerClass } = {},
  ): Promise<Prefix> {
    const { vocabularySize } = this.facts;
    return startPrefix({ ...request, prompt }, [signal, this.ending], vocabularySize, (call) =>
      this.run(undefined, call),
    );
  }

  /**
   * Reads a prefix that Prefix.save() wrote for this model file and these options.
   * @throws NOT_FOUND, IO, CORRUPT, UNSUPPORTED (another model, option or version), OUT_OF_MEMORY
   */
  async loadPrefix(path: string, { signal }: CallOptions = {}): Promise<Prefix> {
    const file = stringArgument('path', path);
    return this.run(
      signal,
      async (native, cancel) => new Prefix(await native.loadPrefix(file, cancel), native),
    );
  }

  /**
   * Generates a reply. Aborting the signal is the same as Generation.cancel(). Throws INVALID_ARGUMENT at once. The
   * result rejects with TEXT_TOO_LONG (the prompt does not fit the context; `detail` has tokens and limit),
   * OUT_OF_MEMORY (it does not fit the KV cache), INVALID_ARGUMENT (the schema cannot be enforced, the grammar became too
   * ambiguous, or no token continues the reply as it wants), DEVICE_LOST (the GPU failed; load the model again), CLOSED.
   */
  generate(request: GenerateRequest, { signal }: CallOptions = {}): Generation {
    const { vocabularySize } = this.facts;
    return startGeneration(request, [signal, this.ending], vocabularySize, (call) =>
      this.run(undefined, call),
    );
  }
}
