/**
 * The shape of the .node file, written down once. `native/binding/addon.cc` holds the matching export list, and
 * test/lib/boundary.test.ts compares the two. Nothing outside lib/ imports this.
 *
 * Texts cross as a TextArena and rows as a RowBuffer, both filled in slices: nothing large is copied at once, and no worker
 * reads memory that JavaScript can still change or detach. Promises reject with a plain Error with `code` and `detail`
 * (see errors.ts).
 */

/** Raises the flag that native loops poll. One per call with an AbortSignal. */
export interface NativeCancelToken {
  cancel(): void;
}

/** Many strings as UTF-8 in native memory. */
export interface NativeTextArena {
  /** Appends texts[begin, end). Lone surrogates become U+FFFD. Synchronous: callers slice. */
  append(texts: readonly string[], begin: number, end: number): void;
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

/** A filter compiled for one storage's fields. */
export interface NativeFilter extends NativeHandle {
  readonly variables: string[];
}

/** Ways to crash, for tests of crash dumps. */
export type CrashKind = 'segmentation-fault' | 'stack-overflow' | 'abort' | 'exception';
export type CrashThread = 'calling' | 'pool' | 'inference';

export type NativeProgress = (fraction: number) => void;

/** The base of every native object. */
export interface NativeHandle {
  /** Refuses new calls at once; resolves when pending ones have finished and the memory is freed. */
  close(): Promise<void>;
  readonly closed: boolean;
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

/** The knowledge base that owns a file. A file of another owner is not replaced. */
export interface FileOwner {
  /** Paths of its config file and its records file. */
  config: string;
  records: string;
}

/** The required properties of a text index file. `fingerprint` is 16 hexadecimal digits. */
export interface NativeTextExpectation {
  tokenizer: string;
  documents: number;
  fingerprint: string;
}

/** The records of a file. Texts cross to JavaScript only in hits. */
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
  /** `CPU`, or a GPU's name. */
  device: string;
}

/** The fastest settings measured on this machine for the model with this fingerprint, among these runtimes. */
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
  /** Special tokens included. */
  tokens(text: string): Promise<Int32Array>;
  /** Moves the model to the CPU. */
  leaveGpu(): Promise<void>;
}

export interface NativeRerankerFacts {
  name: string;
  architecture: string;
  fingerprint: string;
  contextSize: number;
  trainingContext: number;
  parameters: number;
  sizeBytes: number;
  template: boolean;
}

export interface NativeRanks {
  scores: Float32Array;
  /** Ascending indexes of documents whose end did not fit. */
  cut: number[];
  tokens: number;
}

export interface NativeReranker extends NativeHandle {
  readonly facts: NativeRerankerFacts;
  rank(
    query: string,
    documents: NativeTextArena,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeRanks>;
}

export interface NativeLanguageModelFacts {
  name: string;
  architecture: string;
  fingerprint: string;
  device: string;
  backend: string;
  runtime: string;
  placementNote: string;
  /** Runtimes that were measured, if the choice was automatic. */
  candidates: readonly string[];
  measured: boolean;
  contextSize: number;
  trainedContextSize: number;
  vocabularySize: number;
  embeddingSize: number;
  layers: number;
  parameters: number;
  fileBytes: number;
  chatTemplate: boolean;
  thinking: boolean;
}

export interface NativeMessage {
  /** 0 system, 1 user, 2 assistant. */
  role: number;
  content: string;
}

/** Every field is checked by lib/generation.ts. */
export interface NativeGenerationRequest {
  /** Plain text, or tokens; undefined with messages. */
  prompt: string | Int32Array | undefined;
  messages: readonly NativeMessage[] | undefined;
  /** Of a rendered prompt. */
  parts: readonly { text: string; input: boolean }[] | undefined;
  /** 0 as the template has it, 1 on, 2 off. */
  thinking: number;
  thinkingBudget: number | undefined;
  /** GBNF. */
  grammar: string | undefined;
  quotes: { open: string; close: string; texts: readonly string[] } | undefined;
  /** Index into consumerClasses. */
  class: number;
  maxTokens: number;
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repeatPenalty: number;
  frequencyPenalty: number;
  presencePenalty: number;
  penaltyLastN: number;
  seed: number;
  stop: readonly string[];
  biasTokens: Int32Array;
  biasValues: Float32Array;
  logprobs: number | undefined;
  deadlineMs: number | undefined;
  drafts: boolean;
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
    draftedTokens: number;
    acceptedTokens: number;
    prefillChunks: number;
    queuedMs: number;
    prefillMs: number;
    firstMs: number;
    decodeMs: number;
    longestGapMs: number;
    pausedMs: number;
  };
  /** Per token: its own, then the most likely ones. Empty unless asked for. */
  logprobs: { token: number; logprob: number }[][];
}

/** A prompt that stays in the KV cache until close(). */
export interface NativePrefix extends NativeHandle {
  readonly tokens: Int32Array;
  save(path: string, cancel: NativeCancelToken | undefined): Promise<void>;
}

/** Bytes on one device. */
export interface NativeDeviceMemory {
  device: string;
  model: number;
  context: number;
  compute: number;
}

export interface NativeLanguageModelOptions {
  contextSize: number;
  kvCells: number;
  batchSize: number;
  threads: number;
  batchThreads: number;
  /** 0 ram, 1 vram, 2 auto. */
  placement: number;
  /** 0 auto, 1 llama.cpp, 2 decoder. */
  runtime: number;
  /** 0 f16, 1 q8_0. */
  kvCacheType: number;
  offloadKqv: boolean;
  known: NativeKnownSettings[];
  deterministic: boolean;
}

export interface NativeLanguageModel extends NativeHandle {
  readonly facts: NativeLanguageModelFacts;
  countTokens(text: string): Promise<number>;
  numbers(): Promise<{
    cells: number;
    cellsUsed: number;
    cellsReserved: number;
    running: number;
    queued: number;
    keptPrefixes: number;
    promptTokens: number;
    cachedTokens: number;
  }>;
  /** All pieces come before the promise settles. cancel() settles it with the text so far. */
  generate(
    request: NativeGenerationRequest,
    onPiece: (text: string, thinking: boolean) => void,
  ): [result: Promise<NativeGenerationResult>, cancel: () => void];
  render(
    messages: readonly NativeMessage[],
    thinking: number,
    addGenerationPrompt: boolean,
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

/** The embeddings of records, on their way from a cache file or a model to an index; they never reach JavaScript. */
export interface NativeEmbeddingRows extends NativeHandle {
  /** Embeds the next texts without an embedding: at most `bytes` of text, but at least one text; none if all have one. */
  embedNext(
    records: NativeRecords,
    model: NativeEmbeddingModel,
    options: { prefix: string; truncate: boolean; bytes: number },
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<{ texts: number; errors: NativeItemError[] }>;
  /** The next texts without an embedding: at most `bytes` of text, but at least one text; none if all have one. */
  nextTexts(records: NativeRecords, bytes: number): { ordinals: Uint32Array; texts: string[] };
  /** Stores the embeddings of texts that nextTexts() returned. */
  fill(ordinals: Uint32Array, vectors: Float32Array): void;
  /** Writes the embeddings so far. */
  save(path: string, cancel: NativeCancelToken | undefined, owner: FileOwner | undefined): Promise<void>;
  /**
   * missing: distinct texts without an embedding; reused: records whose embedding was in the file; cut: records whose text
   * was truncated; refusal: why the file was not used, "" if it was used or none was given.
   */
  counts(): { missing: number; reused: number; cut: number; refusal: string };
}

export interface NativeField {
  name: string;
  type: 'int' | 'float' | 'string' | 'bool' | 'set<string>';
  /** Of int fields that have one. */
  format?: 'date' | 'date-time';
}

export interface NativeLexicalOptions {
  extended: boolean;
  fuzziness: boolean;
  boostedFields: readonly string[];
  /** One per field. */
  boosts: Float64Array;
  stopwords: readonly string[];
  synonyms: readonly (readonly string[])[];
}

/** Reads the hits of a search. Keeps the storage in memory until it is called without arguments. */
export interface NativeHitReader {
  /** Writes the numbers of the hits [begin, end) to their place. Returns the rest: ids, texts and other values. */
  (numbers: Float64Array, begin: number, end: number): unknown[];
  /** Releases the hits. May be called again. */
  (): undefined;
}

export interface NativeStorage extends NativeHandle {
  readonly size: number;
  readonly dimension: number;
  readonly memoryBytes: number;
  readonly tokenizer: string;
  /** Undefined: no metadata. */
  readonly fields: NativeField[] | undefined;
  /** `request`: requestNumbers(). Resolves to the arguments of convertResult(); of the numbers only the head is set. */
  search(
    request: Float64Array,
    vector: Float32Array | undefined,
    text: string | undefined,
    filter: NativeFilter | undefined,
    variables: object | undefined,
    cancel: NativeCancelToken | undefined,
    lexical?: NativeLexicalOptions | undefined,
  ): Promise<[numbers: Float64Array, readHits: NativeHitReader]>;
  /**
   * Searches on this thread if that should take under 0.4 ms. Writes the numbers to `numbers` and returns the rest.
   * Returns undefined if not, or after 0.6 ms; the first number (ns that this call took) is set in either case.
   */
  searchNow(
    request: Float64Array,
    vector: Float32Array | undefined,
    text: string | undefined,
    filter: NativeFilter | undefined,
    variables: object | undefined,
    numbers: Float64Array,
  ): unknown[] | undefined;
  /** Of each record: the number of matching words in its text, then begin, end (UTF-16) and clause of each. */
  highlight(
    text: string,
    lexical: NativeLexicalOptions | undefined,
    ordinals: Uint32Array,
    cancel: NativeCancelToken | undefined,
  ): Promise<Uint32Array>;
  /** The ordinal of each id; -1 for an unknown one. */
  find(ids: readonly string[], cancel: NativeCancelToken | undefined): Promise<Int32Array>;
  /** Matching records in their order: `limit` of them from `begin` on, and the number of all. */
  matching(
    filter: NativeFilter | undefined,
    variables: object | undefined,
    begin: number,
    limit: number,
    cancel: NativeCancelToken | undefined,
  ): Promise<{ ordinals: Uint32Array; count: number }>;
  /** Arguments of convertResult() for records that no search found. */
  records(ordinals: Uint32Array): [numbers: Float64Array, read: NativeHitReader];
  /** The embeddings, one row per ordinal. */
  rows(ordinals: Uint32Array, cancel: NativeCancelToken | undefined): Promise<Float32Array>;
  /** Positions in `ordinals` of at most `most` records that are farther than `distance` from each kept before. */
  distinct(
    ordinals: Uint32Array,
    distance: number,
    most: number,
    cancel: NativeCancelToken | undefined,
  ): Promise<Uint32Array>;
  /** Share the storage's memory. */
  indexes(): [NativeVectorIndex, NativeTextIndex];
  /** Resolves to the numbers that readRecall() reads. `ef`: 0 for the default. */
  reportRecall(k: number, ef: number, cancel: NativeCancelToken | undefined): Promise<Float64Array>;
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
  /** For indexes alone. */
  earlier?: NativeVectorIndex | undefined;
}

/** The header of a GGUF file. */
export interface NativeModelDescription {
  tensors: number;
  /** Numbers in all tensors. */
  parameters?: number;
  /** Of the file, or of all parts of a split model. */
  bytes?: number;
  /** Files of a split model; absent for a single file. */
  parts?: number;
  name?: string;
  architecture?: string;
  license?: string;
  contextLength?: number;
  embeddingLength?: number;
  blockCount?: number;
  /** Absent if the model was not made for embeddings. */
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

/** A device of a GPU plugin. */
export interface NativeGpuDevice {
  name: string;
  description: string;
  freeBytes: number;
  totalBytes: number;
}

export interface NativeBackendInfo {
  name: string;
  description: string;
  /** Path of the plugin; empty if the platform cannot tell. */
  file: string;
  features: string[];
}

export interface NativeBinding {
  /**
   * Cancels all calls of this thread and waits for them; later ones are refused. Must be called before the process exits
   * (binding.ts does), because after process.exit() computing threads would run into the static destructors.
   */
  stop(processEnds: boolean): void;
  /** An integer >= 1. */
  setSearchThreads(count: number): void;
  /** Returns free memory to the system, on another thread. */
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
  /** Imports a plain hnswlib file, which stores neither dimension nor space. */
  importHnswlib(
    path: string,
    dimension: number,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeVectorIndex>;

  /** Slowest first. Fixes the set that the process uses. */
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
      /** 0 ram, 1 vram, 2 auto. */
      placement: number;
      known: NativeKnownSettings[];
    },
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeEmbeddingModel>;
  loadReranker(
    path: string,
    options: { contextSize: number; threads: number },
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeReranker>;
  loadLanguageModel(
    path: string,
    options: NativeLanguageModelOptions,
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeLanguageModel>;
  estimateLanguageModel(
    path: string,
    options: NativeLanguageModelOptions,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeDeviceMemory[]>;
  /** 0 refused, 1 a beginning, 2 conforms. */
  matchGrammar(grammar: string, text: string): Promise<number>;
  /** See native/lm/vocabulary_probe.h. */
  probeVocabulary(
    path: string,
    parts: readonly { text: string; input: boolean }[],
  ): Promise<{ tokens: Int32Array; plain: Int32Array; special: Int32Array; spellings: string[] }>;
  /** Loads the backends if no model has been loaded yet. */
  backends(): NativeBackendInfo[];
  /** Plugins of other versions are refused. */
  ggmlVersion(): string;
  /** Loads a GPU plugin into the process. A defective driver may end it: try it in a child process first. */
  loadGpuPlugin(file: string): NativeGpuDevice[];
  /** Opens and closes a device. */
  tryGpu(name: string): void;
  /** Lets models use a device; '': none. `reserveBytes` of its memory stay free for other programs. */
  chooseGpu(name: string, reserveBytes: number): void;

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

  /** Returns the words of a query in extended syntax that are not excluded. */
  plainText(query: string): string;
  readRecords(path: string, fields: unknown, cancel: NativeCancelToken | undefined): Promise<NativeRecords>;
  /** Returns the records in an index file, or a sentence that says why the records file must be read. */
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
  /** Consumes the records' content, even if it fails; shares the indexes, which may be closed afterwards. */
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

  /** `key` identifies everything besides the text that embeddings depend on; a file with another key is ignored. */
  matchEmbeddings(
    records: NativeRecords,
    dimension: number,
    path: string | undefined,
    key: string,
    cutToo: boolean,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeEmbeddingRows>;
  /** Consumes the rows, even if it fails. */
  indexEmbeddings(
    rows: NativeEmbeddingRows,
    options: NativeHnswOptions,
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeVectorIndex>;
  /** Removes temporary files left by killed writers of this file; resolves to their number. */
  removeStrays(path: string): Promise<number>;
  /** Rejects unless a file of this kind may be written there. */
  checkDestination(
    path: string,
    kind: 'index' | 'text index' | 'embeddings',
    owner: FileOwner | undefined,
  ): Promise<void>;
  openBeneath(request: NativeBeneathRequest): Promise<NativeBeneathResult>;
  configureScheduler(settings: NativeSchedulerSettings): void;
  /** 0 to 1. */
  setThrottle(level: number): void;
  /** From now on a crash of the process writes a dump to `path` and then deletes `replaced`. Returns why there can be none; "" if there can. */
  installCrashHandler(path: string, replaced: string): string;
  /** Crashes the process on a thread, for tests of crash dumps. */
  forceCrash(kind: CrashKind, thread: CrashThread): void;
  schedulerStats(): NativeSchedulerStats;
}

export interface NativeSchedulerClass {
  prefillQuantumTokens?: number | undefined;
  contentionScaling?: boolean | undefined;
  maxPauseMs?: number | undefined;
}

/** See native/scheduler/settings.h. */
export interface NativeSchedulerSettings {
  enabled?: boolean | undefined;
  prefillYieldEnabled?: boolean | undefined;
  prefillQuantumTokens?: number | undefined;
  stepTargetMs?: number | undefined;
  interactiveVisible?: NativeSchedulerClass | undefined;
  interactiveBuffered?: NativeSchedulerClass | undefined;
  background?: NativeSchedulerClass | undefined;
}

interface NativeClassStats {
  decodeTokens: number;
  prefillTokens: number;
  longestWaitMs: number;
}

/** See native/scheduler/control.h. */
export interface NativeSchedulerStats {
  throttle: number;
  steps: number;
  busyMs: number;
  longestStepMs: number;
  chunksCut: number;
  pauses: number;
  pausedMs: number;
  running: number;
  queued: number;
  threads: number;
  interactiveVisible: NativeClassStats;
  interactiveBuffered: NativeClassStats;
  background: NativeClassStats;
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
  /** Real path of the enclosing folder; `path` is that of the opened file, relative to it. */
  folder: string;
  name: string;
  /** The caller must close it; -1 unless `reached` is "opened". */
  descriptor: number;
}

/** The export list, by which the loader detects a stale file. */
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
  'loadReranker',
  'loadLanguageModel',
  'estimateLanguageModel',
  'matchGrammar',
  'probeVocabulary',
  'backends',
  'ggmlVersion',
  'loadGpuPlugin',
  'tryGpu',
  'chooseGpu',
  'buildStorage',
  'plainText',
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
  'configureScheduler',
  'setThrottle',
  'installCrashHandler',
  'forceCrash',
  'schedulerStats',
] as const satisfies readonly (keyof NativeBinding)[];
