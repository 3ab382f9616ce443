/**
 * The shape of the .node file, written down once. `native/binding/addon.cc` holds the matching export list, and
 * test/lib/boundary.test.ts compares the two. Nothing outside lib/ imports this.
 *
 * Texts cross as a TextArena and rows as a RowBuffer, both filled in slices: nothing large is copied in one go, and no
 * worker reads memory that JavaScript can still change or detach. Every promise rejects with a
 * plain Error that carries `code` and `detail` (see errors.ts).
 */

/** Raises the flag that native loops poll. One per call; made only when the caller passed an AbortSignal. */
export interface NativeCancelToken {
  cancel(): void;
}

/** Many strings as UTF-8 in native memory. */
export interface NativeTextArena {
  /** Appends texts[begin, end). Lone surrogates become U+FFFD. Synchronous: callers slice. */
  append(texts: readonly string[], begin: number, end: number): void;
  readonly size: number;
}

/** Row-major numbers in native memory. A call takes the content and leaves the buffer empty. */
export interface NativeRowBuffer {
  append(numbers: Float32Array): void;
  readonly size: number;
}

/** The records' typed metadata. A call takes the content. */
export interface NativeMetadataBuffer {
  /** metadata[i] is undefined or an object; keys outside the fields are ignored. Synchronous: callers slice. */
  append(ids: readonly string[], metadata: readonly unknown[], begin: number, end: number): void;
}

/** A filter compiled for one storage's fields. */
export interface NativeFilter extends NativeHandle {
  readonly variables: string[];
}

export type NativeProgress = (fraction: number) => void;

/** What every native object shares. */
export interface NativeHandle {
  /** Refuses new calls at once; resolves when pending ones have finished and the memory is given back. */
  close(): Promise<void>;
  readonly closed: boolean;
}

export interface NativeVectorIndex extends NativeHandle {
  readonly size: number;
  readonly dimension: number;
  readonly kind: 'flat' | 'hnsw';
  readonly vectorType: 'f32' | 'f16' | 'i8';
  readonly memoryBytes: number;
  /** Results are vectorResult numbers of layout.gen.ts, as those of searchNow(); `held` is always set there, and only there. */
  search(
    queries: Float32Array,
    k: number,
    ef: number,
    exact: boolean,
    filter: Uint32Array | undefined,
    cancel: NativeCancelToken | undefined,
  ): Promise<Float64Array>;
  /** Few queries on this thread, if all together are expected to take less than 0.2 ms and do not take more than 0.3; returns whether. */
  searchNow(queries: Float32Array, k: number, ef: number, numbers: Float64Array): boolean;
  /** With records, the file carries them too. */
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
  /** textResult numbers of layout.gen.ts and the query's terms, as those of searchNow(). */
  search(
    query: string,
    k: number,
    filter: Uint32Array | undefined,
    cancel: NativeCancelToken | undefined,
  ): Promise<[numbers: Float64Array, terms: string[]]>;
  /** Without a filter on this thread, if it is expected to take less than 0.2 ms and does not take more than 0.3: the query's terms. */
  searchNow(query: string, k: number, numbers: Float64Array): string[] | undefined;
  save(
    path: string,
    fingerprint: string | undefined,
    cancel: NativeCancelToken | undefined,
    owner: FileOwner | undefined,
  ): Promise<void>;
}

/** The knowledge base that a file is written for: one that belongs to another is not replaced. */
export interface FileOwner {
  /** Paths of its config file and its records file. */
  config: string;
  records: string;
}

/** What a text index file must have been made from. `fingerprint` is 16 hexadecimal digits. */
export interface NativeTextExpectation {
  tokenizer: string;
  documents: number;
  fingerprint: string;
}

/** The records of a file: their texts cross to JavaScript only as hits. */
export interface NativeRecords extends NativeHandle {
  readonly size: number;
  /** 16 hexadecimal digits over the texts and their order. */
  readonly fingerprint: string;
  readonly memoryBytes: number;
  id(ordinal: number): string;
}

export interface NativeModelFacts {
  name: string;
  architecture: string;
  dimension: number;
  contextSize: number;
  trainingContext: number;
  pooling: string;
  parameters: number;
  sizeBytes: number;
  fingerprint: string;
  candidates: readonly string[];
  runtime: string;
  batchTokens: number;
  measured: boolean;
}

/** How the model of a fingerprint is computed best on this machine, as measured before among these runtimes. */
export interface NativeKnownSettings {
  fingerprint: string;
  candidates: readonly string[];
  runtime: string;
  batchTokens: number;
}

export interface NativeItemError {
  index: number;
  code: string;
  message: string;
  tokens: number;
  limit: number;
}

export interface NativeEmbeddings {
  vectors: Float32Array;
  errors: NativeItemError[];
  tokens: number;
  batches: number;
}

export interface NativeEmbeddingModel extends NativeHandle {
  readonly facts: NativeModelFacts;
  embed(
    texts: NativeTextArena,
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeEmbeddings>;
  countTokens(text: string): Promise<number>;
}

/** The embeddings of records, from a cache file and from a model to an index: the numbers never reach JavaScript. */
export interface NativeEmbeddingRows extends NativeHandle {
  /** Embeds the next texts that have no embedding: as many as `bytes` hold, one at least; none when all have one. */
  embedNext(
    records: NativeRecords,
    model: NativeEmbeddingModel,
    options: { prefix: string; truncate: boolean; bytes: number },
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<{ texts: number; errors: NativeItemError[] }>;
  /** Writes every embedding that there is. */
  save(path: string, cancel: NativeCancelToken | undefined, owner: FileOwner | undefined): Promise<void>;
  /**
   * missing: different texts without an embedding; reused: records whose embedding was in the file; cut: records of which
   * only the beginning is embedded; refusal: why the file was not used, "" when it was or there is to be none.
   */
  counts(): { missing: number; reused: number; cut: number; refusal: string };
}

export interface NativeField {
  name: string;
  type: 'int' | 'float' | 'string' | 'bool' | 'set<string>';
}

export interface NativeStorage extends NativeHandle {
  readonly size: number;
  readonly dimension: number;
  readonly memoryBytes: number;
  readonly tokenizer: string;
  /** Undefined: no metadata. */
  readonly fields: NativeField[] | undefined;
  /** `request`: requestNumbers(). Resolves to what storageResult() takes: its numbers and the rest. */
  search(
    request: Float64Array,
    vector: Float32Array | undefined,
    text: string | undefined,
    filter: NativeFilter | undefined,
    variables: object | undefined,
    cancel: NativeCancelToken | undefined,
  ): Promise<[Float64Array, unknown[]]>;
  /**
   * The same on this thread, if it is expected to take less than 0.4 ms and does not take more than 0.6: the numbers go
   * into `numbers`, the first always (how many ns this call took), and the rest is returned. Else undefined.
   */
  searchNow(
    request: Float64Array,
    vector: Float32Array | undefined,
    text: string | undefined,
    filter: NativeFilter | undefined,
    variables: object | undefined,
    numbers: Float64Array,
  ): unknown[] | undefined;
  compileFilter(filter: unknown): NativeFilter;
  documentFrequency(word: string): number;
}

export interface NativeHnswOptions {
  kind: 'flat' | 'hnsw';
  m: number;
  efConstruction: number;
  vectorType: 'f32' | 'f16' | 'i8';
  seed: number;
  threads: number;
}

/** What the header of a GGUF file says. */
export interface NativeModelDescription {
  tensors: number;
  name?: string;
  architecture?: string;
  license?: string;
  contextLength?: number;
  embeddingLength?: number;
  blockCount?: number;
  /** Absent: the model was not made for embeddings. */
  poolingType?: number;
  tokenizer?: string;
  /** Tokens. */
  vocabulary?: number;
}

export interface NativeFileDescription {
  kind: 'index' | 'text index' | 'embeddings' | 'hnswlib index' | 'unknown';
  bytes: number;
  version?: number;
  fingerprint?: string;
  refusal?: string;
  rows?: number;
  dimension?: number;
  vectorType?: 'f32' | 'f16' | 'i8';
  m?: number;
  efConstruction?: number;
  tokenizer?: string;
  terms?: number;
  tokens?: number;
  recordsFileBytes?: number;
  recordsFileChecksum?: string;
  textsFingerprint?: string;
  sections: {
    id: number;
    name: string;
    offset: number;
    bytes: number;
    checksum: 'right' | 'wrong' | 'unchecked';
  }[];
}

export interface NativeDistanceKernels {
  used: string;
  available: string[];
}

export interface NativeBackendInfo {
  name: string;
  description: string;
  /** The plugin, where the platform can tell; else empty. */
  file: string;
  features: string[];
}

export interface NativeBinding {
  /**
   * Cancels all calls of this thread and waits for their end; later ones are refused. Must be called before the process
   * exits (binding.ts does), because process.exit() leaves computing threads running into the static destructors.
   */
  stop(processEnds: boolean): void;
  /** An integer >= 1. */
  setSearchThreads(count: number): void;
  /** Gives free memory back to the system, on another thread. */
  releaseFreeMemory(): void;

  CancelToken: new () => NativeCancelToken;
  TextArena: new () => NativeTextArena;
  RowBuffer: new (capacity: number) => NativeRowBuffer;
  MetadataBuffer: new (fields: unknown) => NativeMetadataBuffer;

  buildVectorIndex(
    rows: NativeRowBuffer,
    dimension: number,
    options: NativeHnswOptions,
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeVectorIndex>;
  /** With `dimension`, hnswlib's format too. A fingerprint in the file must be the given one, else UNSUPPORTED. */
  loadVectorIndex(
    path: string,
    expected: { verify: boolean; dimension: number | undefined; fingerprint: string | undefined },
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeVectorIndex>;
  /** Plain hnswlib files: the caller says the dimension and the space, because the file does not. */
  importHnswlib(
    path: string,
    dimension: number,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeVectorIndex>;

  /** The slowest first. Settles which set the process uses. */
  distanceKernels(): NativeDistanceKernels;

  buildTextIndex(
    texts: NativeTextArena,
    tokenizer: string,
    threads: number,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeTextIndex>;
  loadTextIndex(
    path: string,
    expected: NativeTextExpectation | undefined,
    complete: boolean,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeTextIndex>;
  tokenize(text: string, tokenizer: string): string[];

  loadEmbeddingModel(
    path: string,
    options: {
      contextSize: number;
      pooling: string | undefined;
      threads: number;
      runtime: string | undefined;
      known: NativeKnownSettings[];
    },
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeEmbeddingModel>;
  /** Loads the backends if no model has been loaded yet. */
  backends(): NativeBackendInfo[];

  buildStorage(
    ids: NativeTextArena,
    texts: NativeTextArena,
    rows: NativeRowBuffer,
    dimension: number,
    metadata: NativeMetadataBuffer | undefined,
    options: NativeHnswOptions & { tokenizer: string },
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeStorage>;

  readRecords(path: string, fields: unknown, cancel: NativeCancelToken | undefined): Promise<NativeRecords>;
  /** The records that an index file carries, or a sentence that says why the records file must be read. */
  openIndexedRecords(
    indexPath: string,
    recordsPath: string,
    fields: unknown,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeRecords | string>;
  indexRecords(
    records: NativeRecords,
    tokenizer: string,
    threads: number,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeTextIndex>;
  /** Takes the records' content, also when it fails; shares the indexes, which may be closed afterwards. */
  assembleStorage(
    records: NativeRecords,
    vectors: NativeVectorIndex,
    words: NativeTextIndex,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeStorage>;

  describeFile(
    path: string,
    verify: boolean,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeFileDescription>;
  describeModel(path: string, cancel: NativeCancelToken | undefined): Promise<NativeModelDescription>;

  /** `key` names what embeddings depend on beside the text; a file of another key is not used. */
  matchEmbeddings(
    records: NativeRecords,
    dimension: number,
    path: string | undefined,
    key: string,
    cutToo: boolean,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeEmbeddingRows>;
  /** Takes the rows, also when it fails. */
  indexEmbeddings(
    rows: NativeEmbeddingRows,
    options: NativeHnswOptions,
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeVectorIndex>;
  /** Removes the temporary files that killed writers of this file left; resolves to how many. */
  removeStrays(path: string): Promise<number>;
  /** Rejects unless a file of that kind may be written there. */
  checkDestination(
    path: string,
    kind: 'index' | 'text index' | 'embeddings',
    owner: FileOwner | undefined,
  ): Promise<void>;
  openBeneath(request: NativeBeneathRequest): Promise<NativeBeneathResult>;
}

/** See native/core/beneath.h. */
export interface NativeBeneathRequest {
  root: string;
  folder: string;
  path: string;
  wanted: 'file' | 'folder' | 'place';
  makeFolders: boolean;
  closed: readonly string[];
  logs: string;
}

export interface NativeBeneathResult {
  reached: 'opened' | 'outside' | 'no folder' | 'absent' | 'closed' | 'forbidden';
  /** Real path of what the path may not leave, and relative to it that of what was opened. */
  folder: string;
  name: string;
  /** The caller's to close; -1 unless `reached` is "opened". */
  descriptor: number;
}

/** The export list, for the loader's check that the file is not stale. */
export const nativeExports = [
  'stop',
  'setSearchThreads',
  'releaseFreeMemory',
  'CancelToken',
  'TextArena',
  'RowBuffer',
  'MetadataBuffer',
  'buildVectorIndex',
  'loadVectorIndex',
  'importHnswlib',
  'distanceKernels',
  'buildTextIndex',
  'loadTextIndex',
  'tokenize',
  'loadEmbeddingModel',
  'backends',
  'buildStorage',
  'readRecords',
  'openIndexedRecords',
  'indexRecords',
  'assembleStorage',
  'matchEmbeddings',
  'indexEmbeddings',
  'removeStrays',
  'checkDestination',
  'openBeneath',
  'describeFile',
  'describeModel',
] as const satisfies readonly (keyof NativeBinding)[];
