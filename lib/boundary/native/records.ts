import type { FileOwner, ItemError, NativeCancelToken, NativeHandle, NativeProgress } from './handle.js';
import type { NativeEmbeddingModel } from './models.js';

/** Identity of a file's content. */
export interface FileContent {
  /** Bytes. */
  size: number;
  /** XXH3-64 of the content, 16 hexadecimal digits. */
  checksum: string;
}

/** The records of a file. Texts cross to JavaScript only in hits. */
export interface NativeRecords extends NativeHandle {
  readonly size: number;
  /** 16 hexadecimal digits over the texts and their order. */
  readonly fingerprint: string;
  readonly memoryBytes: number;
  /** The content of the records file. */
  readonly identity: FileContent;
  id(ordinal: number): string;
}

/** The embeddings of records, on their way from a cache file or a model to an index; they never reach JavaScript. */
export interface NativeEmbeddingRows extends NativeHandle {
  /** Embeds the next texts without an embedding: at most `bytes` of text, but at least one text; none if all have one. */
  embedNext(
    records: NativeRecords,
    model: NativeEmbeddingModel,
    options: { prefix: string; truncate: boolean; bytes: number },
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<{ texts: number; errors: ItemError[] }>;
  /** The next texts without an embedding: at most `bytes` of text, but at least one text; none if all have one. */
  nextTexts(records: NativeRecords, bytes: number): { ordinals: Uint32Array; texts: string[] };
  /** Stores the embeddings of texts that nextTexts() returned. */
  fill(ordinals: Uint32Array, vectors: Float32Array): void;
  /** Writes the embeddings so far. */
  save(path: string, cancel: NativeCancelToken | undefined, owner: FileOwner | undefined): Promise<void>;
  /** Writes the rows of files whose texts no record has, nothing for none; resolves to their number. */
  saveOthers(
    path: string,
    files: readonly string[],
    cancel: NativeCancelToken | undefined,
    owner: FileOwner | undefined,
  ): Promise<number>;
  /**
   * missing: distinct texts without an embedding; reused: records whose embedding was in the file; truncated: records whose text
   * was truncated; refusal: why the file was not used, "" if it was used or none was given.
   */
  counts(): { missing: number; reused: number; truncated: number; refusal: string };
}
