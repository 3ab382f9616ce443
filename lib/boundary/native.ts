import type { NativeChangeLog, RecordDefect } from './native/changes.js';
import type { CrashKind, CrashThread } from './native/crash.js';
import type { DistanceKernels, NativeBackendInfo, NativeGpuDevice } from './native/devices.js';
import type {
  FileInspection,
  NativeBeneathRequest,
  NativeBeneathResult,
  NativeModelDescription,
} from './native/files.js';
import type {
  FileOwner,
  NativeCancelToken,
  NativeHandle,
  NativeMetadataBuffer,
  NativeProgress,
  NativeRowBuffer,
  NativeTextArena,
} from './native/handle.js';
import type {
  NativeHnswOptions,
  NativeTextExpectation,
  NativeTextIndex,
  NativeVectorIndex,
} from './native/indexes.js';
import type {
  NativeDeviceMemory,
  NativeLanguageModel,
  NativeLanguageModelOptions,
} from './native/language-model.js';
import type { NativeEmbeddingModel, NativeKnownSettings, NativeReranker } from './native/models.js';
import type { FileContent, NativeEmbeddingRows, NativeRecords } from './native/records.js';
import type { NativeSchedulerSettings, SchedulerStats } from './native/scheduler.js';
import type { NativeRecogniser, NativeVoiceDetector } from './native/speech.js';
import type { NativeStorage } from './native/storage.js';
import type { NativeLongStep } from './native/watch.js';

/**
 * The shape of the .node file, written down once: its functions here, its objects in native/. `native/binding/addon.cc`
 * holds the matching export list, and test/lib/boundary.test.ts compares the two. Nothing outside lib/ imports this.
 *
 * Texts cross as a TextArena and rows as a RowBuffer, both filled in slices: nothing large is copied at once, and no worker
 * reads memory that JavaScript can still change or detach. Promises reject with a plain Error with `code` and `detail`
 * (see errors.ts).
 */

export type * from './native/changes.js';
export type * from './native/crash.js';
export type * from './native/devices.js';
export type * from './native/files.js';
export type * from './native/handle.js';
export type * from './native/indexes.js';
export type * from './native/language-model.js';
export type * from './native/models.js';
export type * from './native/records.js';
export type * from './native/scheduler.js';
export type * from './native/storage.js';
export type * from './native/watch.js';

export interface NativeBinding {
  /**
   * Cancels all calls of this thread and waits for them; later ones are refused. Must be called before the process exits
   * (binding.ts does), because after process.exit() computing threads would run into the static destructors.
   */
  stop(processEnds: boolean): void;
  /** An integer >= 1. */
  setSearchThreads(count: number): void;
  /** Returns some free memory of the main thread to the system. False: none is left. */
  releaseFreePages(): boolean;
  /** Returns free memory to the system, on another thread. Allocations may wait for it. */
  releaseFreeMemory(): void;
  /** Processor time that the calling thread has used, in ms; elapsed time where the system has no such clock. Only differences have a meaning. */
  threadMs(): number;
  /** Number of threads, at most `most`, that the system lets the process start. The command's launcher calls it. */
  startableThreads(most: number): number;

  CancelToken: new () => NativeCancelToken;
  TextArena: new () => NativeTextArena;
  RowBuffer: new (capacity: number) => NativeRowBuffer;
  /** Fields, or a storage for its own. */
  MetadataBuffer: new (
    fields: unknown,
  ) => NativeMetadataBuffer;

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
  distanceKernels(): DistanceKernels;

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
  /** All tokens under which an index stores a text, in order. The words among them make its length. */
  tokenize(text: string, tokenizer: string, as: 'document'): string[];
  tokenize(text: string, tokenizer: string, as: 'query'): NativeQueryTokens;

  loadEmbeddingModel(
    path: string,
    options: {
      contextSize: number;
      pooling: string | undefined;
      threads: number;
      runtime: string | undefined;
      /** Index into placements. */
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
  loadVoiceDetector(
    path: string,
    options: object,
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeVoiceDetector>;
  loadRecogniser(
    path: string,
    options: { threads: number; gpu: boolean },
    cancel: NativeCancelToken | undefined,
    progress: NativeProgress | undefined,
  ): Promise<NativeRecogniser>;
  /** ISO 639-1 codes. */
  speechLanguages(): string[];
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
  /** Index into grammarMatches. */
  checkGrammar(grammar: string, cancel: NativeCancelToken | undefined): Promise<void>;
  matchGrammar(grammar: string, text: string, cancel: NativeCancelToken | undefined): Promise<number>;
  /** See native/lm/prompt/vocabulary_probe.h. */
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
    options: NativeHnswOptions & { tokenizer: string; empty?: true },
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

  describeFile(path: string, verify: boolean, cancel: NativeCancelToken | undefined): Promise<FileInspection>;
  /** `pooling`: of an embedding model whose file names none. */
  describeModel(
    path: string,
    pooling: string | undefined,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeModelDescription>;

  /** Returns the first `most` defects of records, each given as JSON. Without `fields`, metadata are not looked at. */
  checkRecords(
    jsons: readonly string[],
    fields: unknown,
    most: number,
    cancel: NativeCancelToken | undefined,
  ): Promise<RecordDefect[]>;
  /** With `from`, the frames from that byte on, which continue `version`. */
  readChangeLog(
    path: string,
    from: number,
    version: number,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeChangeLog>;
  /** Writes the checksums of a frame of the log `id`, or of a header. */
  sealChanges(bytes: Uint8Array, id: string | undefined): void;
  /** Takes a lock between processes; closing the result releases it. */
  lockFile(path: string): NativeHandle;
  identifyFile(path: string, cancel: NativeCancelToken | undefined): Promise<FileContent>;
  /** The sizes of the files, then of the files in the folder; 0 for what is no regular file. */
  fileSizes(files: readonly string[], folder: string | undefined): Promise<number[]>;

  /**
   * `key` identifies everything besides the text that embeddings depend on; a file with another key is ignored. The first file that has
   * a text wins, and `refusal` is about the first file.
   */
  matchEmbeddings(
    records: NativeRecords,
    dimension: number,
    paths: readonly string[],
    key: string,
    truncatedToo: boolean,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeEmbeddingRows>;
  /** The embeddings that files have of whole texts: positions of the texts, and a row for each. Files that cannot be used are left out. */
  findEmbeddings(
    texts: NativeTextArena,
    dimension: number,
    paths: readonly string[],
    key: string,
    cancel: NativeCancelToken | undefined,
  ): Promise<{ texts: Uint32Array; vectors: Float32Array }>;
  /** Writes the rows of files and of texts without those of `dropped`, nothing for none; resolves to their number. */
  uniteEmbeddings(
    path: string,
    parts: {
      files: readonly string[];
      texts: NativeTextArena;
      vectors: Float32Array;
      dropped: NativeTextArena;
    },
    dimension: number,
    key: string,
    cancel: NativeCancelToken | undefined,
    owner: FileOwner | undefined,
  ): Promise<number>;
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
  /** Crashes the process on a thread, for tests of crash dumps. Only in addons of the development edition. */
  forceCrash?(kind: CrashKind, thread: CrashThread): void;
  /** Watches threads for steps of more than `limitMs`; 0: no longer. Only in addons of the development edition. */
  watchSteps?(limitMs: number): void;
  /** The steps found since the last call. Only in addons of the development edition. */
  longSteps?(): NativeLongStep[];
  schedulerStats(): SchedulerStats;
}

/** The terms by which a query finds texts. */
export interface NativeQueryTokens {
  /** In order; a word that occurs twice is there twice. */
  words: {
    term: string;
    /** Other terms that match it, with their share of its weight if some text has the word as typed, and if none has. */
    variants?: { term: string; known: number; unknown: number }[];
  }[];
  compounds: { term: string; occurrences: number; share: number }[];
}

/** The export list, by which the loader detects a stale file. */
export const nativeExports = [
  'stop',
  'setSearchThreads',
  'releaseFreePages',
  'releaseFreeMemory',
  'threadMs',
  'startableThreads',
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
  'loadVoiceDetector',
  'loadRecogniser',
  'speechLanguages',
  'loadLanguageModel',
  'estimateLanguageModel',
  'checkGrammar',
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
  'checkRecords',
  'readChangeLog',
  'sealChanges',
  'lockFile',
  'identifyFile',
  'fileSizes',
  'matchEmbeddings',
  'findEmbeddings',
  'uniteEmbeddings',
  'indexEmbeddings',
  'removeStrays',
  'checkDestination',
  'openBeneath',
  'describeFile',
  'describeModel',
  'configureScheduler',
  'setThrottle',
  'installCrashHandler',
  'schedulerStats',
] as const satisfies readonly (keyof NativeBinding)[];
