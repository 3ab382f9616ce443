import type { NativeLoggedChanges } from './changes.js';
import type {
  NativeCancelToken,
  NativeHandle,
  NativeMetadataBuffer,
  NativeRowBuffer,
  NativeTextArena,
} from './handle.js';
import type { NativeTextIndex, NativeVectorIndex } from './indexes.js';

export interface NativeField {
  name: string;
  type: 'int' | 'float' | 'string' | 'bool' | 'set<string>';
  /** The format of an int field, if it has one. */
  format?: 'date' | 'date-time';
}

/** A filter compiled for one storage's fields. */
export interface NativeFilter extends NativeHandle {
  readonly variables: string[];
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
  /**
   * Writes the numbers of the hits [begin, end) to their place. Returns the rest: ids, texts and other values. Ends before a hit
   * with which the texts would have more than 256 KiB.
   */
  (numbers: Float64Array, begin: number, end: number): unknown[];
  /** Releases the hits. May be called again. */
  (): undefined;
}

/** The facts of a batch, as UpdateResult in lib/search/storage-changes.ts. */
export interface NativeUpdateResult {
  version: number;
  added: number;
  replaced: number;
  removed: number;
  size: number;
}

export interface NativeStorage extends NativeHandle {
  readonly size: number;
  /** The newest version. */
  readonly version: number;
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
  /**
   * Returns for each record the number of matching words in its text, begin and end of the part with most of them, then begin,
   * end (UTF-16) and clause of each word: of all, or of those in that part.
   */
  highlight(
    text: string,
    lexical: NativeLexicalOptions | undefined,
    ordinals: Uint32Array,
    all: boolean,
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
  /** Consumes the buffers, even if it fails. `added`: how many of the records are new; the others replace. */
  update(
    ids: NativeTextArena,
    texts: NativeTextArena,
    rows: NativeRowBuffer,
    metadata: NativeMetadataBuffer | undefined,
    remove: NativeTextArena,
    added: number,
    upsert: boolean,
    ifVersion: number | undefined,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeUpdateResult>;
  /** Consumes the changes. `version`: the storage's version afterwards. Removed ids may be unknown. `words`: the index of their texts. */
  applyLogged(
    changes: NativeLoggedChanges,
    version: number,
    time: number | undefined,
    words: NativeTextIndex | undefined,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeUpdateResult>;
  /** Takes the newest version of a storage that was loaded from later files. Older versions go. */
  adopt(later: NativeStorage): void;
  /** States when the newest version was made, in milliseconds since 1970. */
  setTime(ms: number): void;
  forget(
    ids: readonly string[],
    missingIsFine: boolean,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeUpdateResult>;
  /** Removes what ids named before their records were removed or replaced. */
  forgetFormer(ids: readonly string[], cancel: NativeCancelToken | undefined): Promise<void>;
  /** Runs a merge that is due, or merges everything. Resolves to whether there was something to merge. */
  merge(all: boolean, threads: number, cancel: NativeCancelToken | undefined): Promise<boolean>;
  merging(): { due: boolean; parts: number; deletedShare: number; changedShare: number };
  /** A storage that stays at a version; at the newest one by default. Call release() on it, or close(). */
  pin(version?: number | undefined): NativeStorage;
  /** Drops a pinned version at once. Running calls keep it. */
  release(): void;
  /** Oldest first. `time`: ms since 1970. */
  versions(): { version: number; time: number; size: number }[];
  keep(count: number, bytes: number, age: number): void;
  compileFilter(filter: unknown): NativeFilter;
  documentFrequency(word: string): number;
}
