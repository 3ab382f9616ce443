/** Raises the flag that native loops poll. One per call with an AbortSignal. */
export interface NativeCancelToken {
  cancel(): void;
}

export type NativeProgress = (fraction: number) => void;

/** The base of every native object. */
export interface NativeHandle {
  /** Refuses new calls at once; resolves when pending ones have finished and the memory is freed. */
  close(): Promise<void>;
  readonly closed: boolean;
}

/** Many strings as UTF-8 in native memory. */
export interface NativeTextArena {
  /** Appends texts[begin, end). Lone surrogates become U+FFFD. Synchronous: callers slice. */
  append(texts: readonly string[], begin: number, end: number): void;
  /** Makes room for texts of as many bytes in all, so that appending moves nothing. */
  reserve(bytes: number): void;
  readonly size: number;
}

/** Row-major numbers in native memory. A call consumes the content and leaves the buffer empty. */
export interface NativeRowBuffer {
  append(numbers: Float32Array): void;
  readonly size: number;
}

/** The records' typed metadata. A call consumes the content. */
export interface NativeMetadataBuffer {
  /** metadata[i] is undefined or an object; keys outside the fields are ignored. Synchronous: callers slice. */
  append(ids: readonly string[], metadata: readonly unknown[], begin: number, end: number): void;
}

/** The knowledge base that owns a file. A file of another owner is not replaced. */
export interface FileOwner {
  /** Paths of its config file and its records file. */
  config: string;
  records: string;
}

/** Why one text could not be embedded. */
export interface ItemError {
  /** Position in the texts given. */
  index: number;
  /** INVALID_ARGUMENT: the text has no token that the model knows; MODEL_INVALID: the result holds NaN or infinity. */
  code: 'TEXT_TOO_LONG' | 'INVALID_ARGUMENT' | 'MODEL_INVALID';
  /** The problem, without its place. */
  message: string;
  /** Tokens in the text, special tokens included. */
  tokens: number;
  /** The model's maximum, special tokens included. */
  limit: number;
}
