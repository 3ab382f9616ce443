import { choiceArgument, integerArgument, mostThreads, stringArgument } from './arguments.js';
import { binding } from './binding.js';
import { LorekeepError } from './errors.js';
import { type GenerateRequest, type Generation, startGeneration } from './generation.js';
import { Handle } from './handle.js';
import type { NativeLanguageModel } from './native.js';
import { type CallOptions, callNative, describe, type ProgressOptions } from './native-call.js';

const placements = ['ram', 'vram', 'auto'] as const;
const mostContext = 1 << 24;
const mostBatch = 1 << 16;

export interface LanguageModelOptions extends ProgressOptions {
  /** Most tokens of a prompt and its reply. Default: what the model was trained on, at most 8192. */
  contextSize?: number | undefined;
  /** `ram`: on the CPU; `vram`: on a GPU, or the load fails; `auto` (default): on a GPU if there is one. */
  placement?: (typeof placements)[number] | undefined;
  /** Threads that decode. 0 (default): all that the process may use. */
  threads?: number | undefined;
  /** Threads that process prompts. 0 (default): all that the process may use. */
  batchThreads?: number | undefined;
  /** Most tokens of a step. Default 512. */
  batchSize?: number | undefined;
  /** Cells of the KV cache, one per token, shared by all requests. Default: contextSize. */
  kvCells?: number | undefined;
  /** The same request gives the same text, whatever runs beside it. Slower. Default: false. */
  deterministic?: boolean | undefined;
}

/** Facts about a loaded language model. */
export interface LanguageModelFacts {
  readonly name: string;
  readonly architecture: string;
  /** Hexadecimal; unique per model file. */
  readonly fingerprint: string;
  /** `CPU`, or the name of a GPU. */
  readonly device: string;
  readonly backend: string;
  /** In use, in tokens. */
  readonly contextSize: number;
  readonly trainedContextSize: number;
  readonly vocabularySize: number;
  readonly embeddingSize: number;
  readonly layers: number;
  readonly parameters: number;
  readonly fileBytes: number;
  /** Whether the file has a chat template, which `messages` need. */
  readonly chatTemplate: boolean;
}

/** The KV cache of a language model, in cells (one per token), and its requests. */
export interface LanguageModelNumbers {
  readonly cells: number;
  /** Shared cells count once. */
  readonly cellsUsed: number;
  /** Cells that running requests may still need. */
  readonly cellsReserved: number;
  readonly running: number;
  readonly queued: number;
  /** Sequences that no request uses, and that later prompts may share. */
  readonly keptPrefixes: number;
  /** Tokens of all prompts, and those among them that were not computed. */
  readonly promptTokens: number;
  readonly cachedTokens: number;
}

/** A GGUF language model that generates text. Calls may overlap: all share one KV cache and are computed together. */
export class LanguageModel extends Handle<NativeLanguageModel> {
  /**
   * Loads a model file after checking it, and allocates its KV cache.
   * @throws NOT_FOUND, IO, MODEL_INVALID (not GGUF, truncated, damaged), UNSUPPORTED (an architecture that does not
   * generate text; placement `vram` without a GPU), OUT_OF_MEMORY, CANCELLED.
   */
  static async load(path: string, options: LanguageModelOptions = {}): Promise<LanguageModel> {
    const file = stringArgument('path', path);
    const native = {
      contextSize: integerArgument('contextSize', options.contextSize, 0, 0, mostContext),
      kvCells: integerArgument('kvCells', options.kvCells, 0, 0, mostContext),
      batchSize: integerArgument('batchSize', options.batchSize, 512, 1, mostBatch),
      threads: integerArgument('threads', options.threads, 0, 0, mostThreads),
      batchThreads: integerArgument('batchThreads', options.batchThreads, 0, 0, mostThreads),
      placement: placements.indexOf(choiceArgument('placement', options.placement, 'auto', placements)),
      deterministic: options.deterministic === true,
    };
    return callNative(
      options.signal,
      async (cancel) =>
        new LanguageModel(await binding.loadLanguageModel(file, native, cancel, options.onProgress)),
    );
  }

  get facts(): LanguageModelFacts {
    return this.read((native) => native.facts);
  }

  /** Returns the state of the KV cache, after the step that is running now. */
  async numbers(): Promise<LanguageModelNumbers> {
    return this.run(undefined, (native) => native.numbers());
  }

  /** Returns the number of tokens in a plain text, without special tokens. @throws TEXT_TOO_LONG */
  async countTokens(text: string, { signal }: CallOptions = {}): Promise<number> {
    if (typeof text !== 'string') {
      throw new LorekeepError('INVALID_ARGUMENT', `text: a string is expected, not ${describe(text)}`);
    }
    return this.run(signal, (native) => native.countTokens(text));
  }

  /**
   * Generates a reply. Aborting the signal is the same as Generation.cancel(). Throws INVALID_ARGUMENT at once. The
   * result rejects with TEXT_TOO_LONG (the prompt does not fit the context; `detail` has tokens and limit),
   * OUT_OF_MEMORY (it does not fit the KV cache), CLOSED.
   */
  generate(request: GenerateRequest, { signal }: CallOptions = {}): Generation {
    return startGeneration(request, signal, this.facts.vocabularySize, (call) => this.run(undefined, call));
  }
}
