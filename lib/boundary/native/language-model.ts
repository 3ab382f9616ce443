import type { NativeCancelToken, NativeHandle } from './handle.js';
import type { NativeKnownSettings } from './models.js';

/** Facts about a loaded language model. */
export interface LanguageModelFacts {
  readonly name: string;
  readonly architecture: string;
  /** Hexadecimal; unique per model file. */
  readonly fingerprint: string;
  /** `CPU`, or the name of a GPU. */
  readonly device: string;
  readonly backend: string;
  /** The runtime: `llama.cpp` or `decoder`. */
  readonly runtime: string;
  /** Why placement `auto` did not use the GPU; empty if it did, or if there is none. */
  readonly placementNote: string;
  /** Runtimes that were measured, if `runtime: 'auto'` had a choice; else empty. */
  readonly candidates: readonly string[];
  /** Whether this process measured them. */
  readonly measured: boolean;
  /** In use, in tokens. */
  readonly contextSize: number;
  readonly trainedContextSize: number;
  readonly vocabularySize: number;
  readonly embeddingSize: number;
  readonly layers: number;
  readonly parameters: number;
  readonly fileBytes: number;
  /** Why texts may have other tokens than the model was trained with; else empty. */
  readonly tokenizerNote: string;
  /** What the chat template uses that is not supported, or why it cannot be used; else empty. */
  readonly templateNote: string;
  /** Whether the file has a chat template, which `messages` need. */
  readonly chatTemplate: boolean;
  /** Whether the chat template knows thinking. */
  readonly thinking: boolean;
}

export interface NativeLanguageModelOptions {
  contextSize: number;
  kvCells: number;
  batchSize: number;
  threads: number;
  batchThreads: number;
  /** Index into kvCacheTypes. */
  kvCacheType: number;
  /** Index into placements. */
  placement: number;
  /** Index into runtimes. */
  runtime: number;
  offloadKqv: boolean;
  known: NativeKnownSettings[];
  deterministic: boolean;
}

/** Bytes on one device. */
export interface NativeDeviceMemory {
  device: string;
  model: number;
  context: number;
  compute: number;
}

/** The KV cache of a language model, in cells (one per token), and its requests. */
export interface LanguageModelNumbers {
  /** When the inference thread read them, between two steps: milliseconds on the clock of `process.hrtime()`. */
  readonly readAtMs: number;
  readonly cells: number;
  /** Shared cells count once. */
  readonly cellsUsed: number;
  /** Cells that running requests may still need. */
  readonly cellsReserved: number;
  readonly running: number;
  readonly queued: number;
  /** Sequences that no request uses, and that later prompts may share. */
  readonly keptPrefixes: number;
  /** Tokens of all prompts, and how many of them were not computed. */
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** Times that a request gave its cells to one of a better class, to continue later. */
  readonly parked: number;
}

/** Tokens that sequences in the KV cache begin with. */
export interface PrefixPart {
  /** Number of parts before it in the prompts. */
  readonly depth: number;
  /** Tokens of this part alone. */
  readonly tokens: number;
  /** Requests under way whose prompt ends with it. */
  readonly running: number;
  /** Sequences of ended requests that end with it. */
  readonly kept: number;
  /** Those of them that are pinned. */
  readonly pinned: number;
  /** Time since the last use of a sequence that ends with it; 0 if none does. */
  readonly idleMs: number;
}

export interface NativeMessage {
  /** Index into roles. */
  role: number;
  content: string;
}

/** Every field is checked by lib/generation/generation.ts. */
export interface NativeGenerationRequest {
  /** Plain text, or tokens; undefined with messages. */
  prompt: string | Int32Array | undefined;
  messages: readonly NativeMessage[] | undefined;
  /** The parts of a rendered prompt. */
  parts: readonly { text: string; input: boolean }[] | undefined;
  /** Index into thinkingModes. */
  thinking: number;
  thinkingBudget: number | undefined;
  /** GBNF. */
  grammar: string | undefined;
  /** `marks`: pairs of characters, one after the other; the first opens a quotation, the second closes it. */
  quotes: { texts: readonly string[]; marks: string; apostrophes: string } | undefined;
  /** Index into consumerClasses. */
  class: number;
  maxTokens: number;
  maxReplyTokens: number | undefined;
  /** As samplingNumbers() gives them. */
  sampling: Float64Array;
  seed: number;
  stop: readonly string[];
  biasTokens: Int32Array;
  biasValues: Float32Array;
  logprobs: number | undefined;
  deadlineMs: number | undefined;
  drafts: boolean;
}

/** Log-probabilities of tokens: for each the chosen one, then the most likely ones. */
export interface NativeLogprobs {
  /** Values of each token. */
  readonly counts: Uint32Array;
  /** Of each value: its token, its log-probability, and where its UTF-8 ends in `bytes`. */
  readonly tokens: Int32Array;
  readonly values: Float32Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

export interface NativeGenerationResult {
  text: string;
  thinking: string;
  finish: string;
  tokens: Int32Array;
  seed: number;
  numbers: {
    promptTokens: number;
    cachedTokens: number;
    computedTokens: number;
    draftedTokens: number;
    acceptedTokens: number;
    prefillChunks: number;
    queuedMs: number;
    prefillMs: number;
    firstMs: number;
    decodeMs: number;
    longestGapMs: number;
    pausedMs: number;
    constraintWaits: number;
    constraintMs: number;
  };
  /** Of all tokens. Undefined unless requested. */
  logprobs: NativeLogprobs | undefined;
}

/** A prompt that stays in the KV cache until close(). */
export interface NativePrefix extends NativeHandle {
  readonly tokens: Int32Array;
  save(path: string, cancel: NativeCancelToken | undefined): Promise<void>;
}

export interface NativeLanguageModel extends NativeHandle {
  readonly facts: LanguageModelFacts;
  countTokens(text: string, cancel: NativeCancelToken | undefined): Promise<number>;
  numbers(): Promise<LanguageModelNumbers>;
  /** A PrefixPart of layout.gen.ts for each part. */
  prefixes(): Promise<Float64Array>;
  forget(texts: readonly string[]): Promise<number>;
  /** All pieces come before the promise settles. cancel() settles it with the text so far. */
  generate(
    request: NativeGenerationRequest,
    onPiece: (text: string, thinking: boolean, logprobs: NativeLogprobs | undefined) => void,
  ): [result: Promise<NativeGenerationResult>, cancel: () => void];
  render(
    messages: readonly NativeMessage[],
    thinking: number,
    addGenerationPrompt: boolean,
    cancel: NativeCancelToken | undefined,
  ): Promise<{
    tokens: Int32Array;
    parts: { text: string; input: boolean; message?: number }[];
    messageTokens: number[];
  }>;
  /** `request.maxTokens` is 0. */
  prefix(
    request: NativeGenerationRequest,
    onPiece: () => void,
  ): [prefix: Promise<NativePrefix>, cancel: () => void];
  loadPrefix(path: string, cancel: NativeCancelToken | undefined): Promise<NativePrefix>;
}
