import type {
  ItemError,
  NativeCancelToken,
  NativeHandle,
  NativeProgress,
  NativeTextArena,
} from './handle.js';

/** The fastest settings measured on this machine for the model with this fingerprint, among these runtimes. */
export interface NativeKnownSettings {
  fingerprint: string;
  candidates: readonly string[];
  runtime: string;
  batchTokens: number;
}

/** Facts about a loaded model. */
export interface ModelFacts {
  readonly name: string;
  readonly architecture: string;
  /** Numbers per embedding. */
  readonly dimension: number;
  /** Longest text in tokens, special tokens included. */
  readonly contextSize: number;
  readonly trainingContext: number;
  readonly pooling: string;
  readonly parameters: number;
  readonly sizeBytes: number;
  /** Hexadecimal; unique per model file. Indexes store it. */
  readonly fingerprint: string;
  /** The runtimes available for the model in this build and on this processor; a measurement compares them. */
  readonly candidates: readonly string[];
  /** The runtime in use: see LoadModelOptions. */
  readonly runtime: string;
  /** Maximum number of tokens in a batch of several texts. */
  readonly batchTokens: number;
  /** Whether this process measured `runtime` and `batchTokens`; else they were given, or read from the cache. */
  readonly measured: boolean;
  /** `CPU`, or the name of a GPU. */
  readonly device: string;
}

export interface EmbedResult {
  /** Row-major, texts x dimension, each row of length 1; rows of failed texts are zero. */
  vectors: Float32Array;
  /** Texts that failed, in input order. */
  errors: ItemError[];
  /** Tokens computed. */
  tokens: number;
  /** Batches computed. */
  batches: number;
}

export interface NativeEmbeddingModel extends NativeHandle {
  readonly facts: ModelFacts;
  /** `truncate`: embeds the beginning of a text that is too long. */
  embed(
    texts: NativeTextArena,
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
    truncate: boolean,
  ): Promise<EmbedResult>;
  /** Special tokens included. */
  tokens(text: string, cancel: NativeCancelToken | undefined): Promise<Int32Array>;
}

/** Facts about a loaded reranker. */
export interface RerankerFacts {
  readonly name: string;
  readonly architecture: string;
  /** Hexadecimal; unique per model file. */
  readonly fingerprint: string;
  /** Longest pair in tokens, special tokens included. */
  readonly contextSize: number;
  readonly trainingContext: number;
  readonly parameters: number;
  readonly sizeBytes: number;
  /** Whether the file has a template `rerank` that says how a pair is written, as Qwen3-Reranker does. */
  readonly template: boolean;
}

export interface NativeRanks {
  scores: Float32Array;
  /** Ascending indexes of documents whose end did not fit. */
  truncated: number[];
  tokens: number;
}

export interface NativeReranker extends NativeHandle {
  readonly facts: RerankerFacts;
  rank(
    query: string,
    documents: NativeTextArena,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeRanks>;
}
