import type { FileOwner, NativeCancelToken, NativeHandle } from './handle.js';
import type { NativeRecords } from './records.js';

export interface NativeHnswOptions {
  kind: 'flat' | 'hnsw';
  m: number;
  efConstruction: number;
  vectorType: 'f32' | 'f16' | 'i8';
  seed: number;
  threads: number;
  /** For indexes alone. */
  earlier?: NativeVectorIndex | undefined;
}

export interface NativeVectorIndex extends NativeHandle {
  readonly size: number;
  readonly dimension: number;
  readonly kind: 'flat' | 'hnsw';
  readonly linked: number;
  readonly vectorType: 'f32' | 'f16' | 'i8';
  readonly memoryBytes: number;
  /** Returns vectorResult numbers (layout.gen.ts), like searchNow(); only searchNow() sets `held`, and always. */
  search(
    queries: Float32Array,
    k: number,
    ef: number,
    exact: boolean,
    filter: Uint32Array | undefined,
    cancel: NativeCancelToken | undefined,
  ): Promise<Float64Array>;
  /** Searches on this thread if all queries together should take under 0.2 ms. Returns false if not, or after 0.3 ms. */
  searchNow(queries: Float32Array, k: number, ef: number, numbers: Float64Array): boolean;
  /** With records, the file includes them. */
  save(
    path: string,
    fingerprint: string | undefined,
    records: NativeRecords | undefined,
    cancel: NativeCancelToken | undefined,
    owner: FileOwner | undefined,
  ): Promise<void>;
}

export interface NativeTextIndex extends NativeHandle {
  readonly size: number;
  readonly terms: number;
  readonly tokenizer: string;
  readonly memoryBytes: number;
  tokenizerFit(): { emptyTexts: number; unsuitedWords: number };
  /** Returns textResult numbers (layout.gen.ts) and the query's terms, like searchNow(). */
  search(
    query: string,
    k: number,
    filter: Uint32Array | undefined,
    cancel: NativeCancelToken | undefined,
  ): Promise<[numbers: Float64Array, terms: string[]]>;
  /** Unfiltered, on this thread, if it should take under 0.2 ms: the query's terms. Undefined if not, or after 0.3 ms. */
  searchNow(query: string, k: number, numbers: Float64Array): string[] | undefined;
  save(
    path: string,
    fingerprint: string | undefined,
    cancel: NativeCancelToken | undefined,
    owner: FileOwner | undefined,
  ): Promise<void>;
}

/** The required properties of a text index file. `fingerprint` is 16 hexadecimal digits. */
export interface NativeTextExpectation {
  tokenizer: string;
  documents: number;
  fingerprint: string;
}
