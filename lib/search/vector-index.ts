import {
  choiceArgument,
  dimensionArgument,
  efArgument,
  hitsArgument,
  integerArgument,
  stringArgument,
  threadsArgument,
  vectorsArgument,
} from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import { countHeld } from '../boundary/event-loop-share.js';
import { Handle } from '../boundary/handle.js';
import { vectorQuery as at, vectorResult as head, indexHit } from '../boundary/layout.gen.js';
import type {
  FileOwner,
  NativeCancelToken,
  NativeHnswOptions,
  NativeVectorIndex,
} from '../boundary/native.js';
import { type CallOptions, callNative, type ProgressOptions, toRows } from '../boundary/native-call.js';
import type { EmbeddingRows } from '../embedding/embedding-rows.js';
import type { Records } from './records.js';
import { readHits, resultNumbers, type SearchPath, searchPathOf } from './result-numbers.js';

export type VectorType = 'f32' | 'f16' | 'i8';

/** Options for building a graph. The defaults suit text embeddings of 100 to 1,000 dimensions. */
export interface HnswOptions {
  /** "hnsw" (default) builds a graph; "flat" stores only the rows and compares all of them, exactly. */
  kind?: 'flat' | 'hnsw' | undefined;
  /** Links per node on the upper levels, twice as many on the lowest. 2 to 128, default 16. */
  m?: number | undefined;
  /** Candidates held while linking a row: higher builds more slowly and improves recall. 1 to 4096, default 200. */
  efConstruction?: number | undefined;
  /**
   * How vectors are stored: "f32" (default), "f16", or "i8" (ten bits per number and one scale per row; the graph is walked
   * with eight of them). "f16" takes 0.6 of the memory of "f32", "i8" a quarter; recall is nearly the same.
   */
  vectorType?: VectorType | undefined;
  /** Seed of the level generator. With `threads: 1`, the same rows and seed give the same graph. Default 100. */
  seed?: number | undefined;
  /** Building threads; 0 (default): all that the process may use. */
  threads?: number | undefined;
}

export interface BuildIndexOptions extends HnswOptions, ProgressOptions {
  /**
   * An index of an earlier state of the rows with the same options. If at most 30 % of the rows differ, its links are kept and
   * only the others are linked (see `linked`), unless that would cost recall. Do not close it before the promise settles. Default:
   * none.
   */
  earlier?: VectorIndex | undefined;
}

export interface LoadIndexOptions extends CallOptions {
  /**
   * Read every vector and compare checksums, which takes as long as reading the file. Default true. If false, the file
   * opens at once; a damaged vector then gives wrong distances, never a crash.
   */
  verify?: boolean | undefined;
  /** Required numbers per row. Needed for a plain hnswlib file, which does not store it. Default: any. */
  dimension?: number | undefined;
  /** Required fingerprint, 16 hexadecimal digits; a file without one is accepted. Default: any. */
  fingerprint?: string | undefined;
}

export interface SaveIndexOptions extends CallOptions {
  /** Fingerprint of the indexed data, 16 hexadecimal digits. Default: none. */
  fingerprint?: string | undefined;
  /** The rows' records, stored in the file for Records.fromIndexFile(), which need not parse. Default: none. */
  records?: Records | undefined;
  /** The knowledge base that owns the file. A file of another owner is not replaced. Default: no owner. */
  owner?: FileOwner | undefined;
}

export interface VectorSearchOptions extends CallOptions {
  /** Hits per query, 1 to 10,000, default 10. Fewer come back only when fewer rows match. */
  k?: number | undefined;
  /**
   * Candidates held during a graph search; higher improves recall and takes longer. Default max(96, 2k); less than k
   * counts as k.
   */
  ef?: number | undefined;
  /** Search all rows instead of the graph. Default false. */
  exact?: boolean | undefined;
  /** Ordinals of the rows that may be found, in any order. Default: all. */
  filter?: Uint32Array | undefined;
}

/** How one query was searched. */
export interface VectorPlan {
  /**
   * "exact": every matching row was compared; "graph": the HNSW graph was walked; "cells": the matching rows of the
   * nearest cells were scanned.
   */
  path: SearchPath;
  /** Rows that match the filter. */
  matched: number;
  /** Rows whose distance was computed. */
  visited: number;
  /** Whether the hits are guaranteed to be the nearest rows. */
  exact: boolean;
}

export interface VectorHits {
  /** Row numbers, nearest first. */
  ordinals: Uint32Array;
  /** Cosine distances, 0 (same direction) to 2 (opposite). */
  distances: Float32Array;
  /** How the search ran. */
  plan: VectorPlan;
}

export function hnswOptions(options: HnswOptions): NativeHnswOptions {
  return {
    kind: choiceArgument('kind', options.kind, 'hnsw', ['flat', 'hnsw']),
    m: integerArgument('m', options.m, 16, 2, 128),
    efConstruction: integerArgument('efConstruction', options.efConstruction, 200, 1, 4096),
    vectorType: choiceArgument('vectorType', options.vectorType, 'f32', ['f32', 'f16', 'i8']),
    seed: integerArgument('seed', options.seed, 100, 0, Number.MAX_SAFE_INTEGER),
    threads: threadsArgument(options.threads),
  };
}

function buildOptions(options: BuildIndexOptions): NativeHnswOptions {
  const { earlier } = options;
  if (earlier !== undefined && !(earlier instanceof VectorIndex))
    throw new LorekeepError('INVALID_ARGUMENT', 'earlier: a VectorIndex is expected', { field: 'earlier' });
  return { ...hnswOptions(options), earlier: earlier?.handle };
}

/** Maximum number of queries, and of hits, per native call: enough to keep all threads busy, few enough to copy without blocking. */
const queriesPerCall = 256;
const hitsPerCall = 100_000;

/** Maximum number of queries, and of hits, of a call that may run on this thread; a larger call is never short enough. */
const maxQueriesNow = 16;
const maxHitsNow = 10_000;

/** Returns the largest number of values in a result with this many queries and hits per query. */
const resultLength = (queries: number, hits: number): number =>
  head.numbers + queries * (at.numbers + hits * indexHit.numbers);

/** Reads the results of consecutive queries. */
function readResults(numbers: Float64Array, queries: number): VectorHits[] {
  const all: VectorHits[] = [];
  let next: number = head.numbers;
  const number = (position: number) => numbers[next + position] as number;
  for (let query = 0; query < queries; query++) {
    const count = number(at.hits);
    const { ordinals, values } = readHits(numbers, next + at.numbers, count);
    const plan: VectorPlan = {
      path: searchPathOf(number(at.path)),
      matched: number(at.matched),
      visited: number(at.visited),
      exact: number(at.exact) === 1,
    };
    all.push({ ordinals, distances: values, plan });
    next += at.numbers + count * indexHit.numbers;
  }
  return all;
}

/** Vectors searched by cosine distance, through an HNSW graph or flat. Immutable once built. */
export class VectorIndex extends Handle<NativeVectorIndex> {
  /**
   * Builds an index over a copy of row-major `vectors` (rows x dimension); rows need not be normalised. A zero row has
   * distance 1 to everything. Do not change the array before the promise settles.
   * @throws INVALID_ARGUMENT for a row that holds NaN or infinity, DIMENSION_MISMATCH, OUT_OF_MEMORY.
   */
  static async build(
    vectors: Float32Array,
    dimension: number,
    options: BuildIndexOptions = {},
  ): Promise<VectorIndex> {
    const width = dimensionArgument(dimension);
    const native = buildOptions(options);
    const rows = await toRows(vectorsArgument('vectors', vectors, width), options.signal);
    return callNative(
      options.signal,
      async (cancel) =>
        new VectorIndex(await binding.buildVectorIndex(rows, width, native, cancel, options.onProgress)),
    );
  }

  /**
   * Opens a file written by save(), memory-mapped; header and graph are always checked in full. With `dimension`, also
   * opens a plain hnswlib file.
   * @throws NOT_FOUND, IO, CORRUPT, DIMENSION_MISMATCH, UNSUPPORTED (another format version; or another fingerprint, then
   * `detail.mismatch` is "fingerprint").
   */
  static async load(path: string, options: LoadIndexOptions = {}): Promise<VectorIndex> {
    const file = stringArgument('path', path);
    const { verify = true, dimension, fingerprint, signal } = options;
    const expected = { verify, dimension: dimension && dimensionArgument(dimension), fingerprint };
    return callNative(
      signal,
      async (cancel) => new VectorIndex(await binding.loadVectorIndex(file, expected, cancel)),
    );
  }

  /**
   * Imports a plain hnswlib file (`save_index` of the Python and C++ libraries; cosine or inner-product space, labels equal
   * to ordinals). hnswlib does not store the dimension, so the caller gives it.
   * @throws NOT_FOUND, IO, CORRUPT, UNSUPPORTED, DIMENSION_MISMATCH.
   */
  static async importHnswlib(
    path: string,
    dimension: number,
    options: CallOptions = {},
  ): Promise<VectorIndex> {
    const file = stringArgument('path', path);
    const width = dimensionArgument(dimension);
    return callNative(
      options.signal,
      async (cancel) => new VectorIndex(await binding.importHnswlib(file, width, cancel)),
    );
  }

  /** Number of rows. */
  get size(): number {
    return this.read((native) => native.size);
  }

  /** Numbers per row. */
  get dimension(): number {
    return this.read((native) => native.dimension);
  }

  get kind(): 'flat' | 'hnsw' {
    return this.read((native) => native.kind);
  }

  /** Number of rows that building linked; the others kept the links of `earlier`. 0 for a loaded index. */
  get linked(): number {
    return this.read((native) => native.linked);
  }

  get vectorType(): VectorType {
    return this.read((native) => native.vectorType);
  }

  /** Memory in bytes, mapped files included. */
  get memoryBytes(): number {
    return this.read((native) => native.memoryBytes);
  }

  /**
   * Returns the k rows nearest to one query of `dimension` numbers. Ties are broken by row order.
   * @throws INVALID_ARGUMENT, DIMENSION_MISMATCH, CLOSED, CANCELLED.
   */
  async search(query: Float32Array, options: VectorSearchOptions = {}): Promise<VectorHits> {
    const k = hitsArgument(options.k);
    const ef = efArgument(options.ef);
    const [hits, ...others] = await this.#search(query, { ...options, k, ef });
    if (hits !== undefined && others.length === 0) return hits;
    const message = `query: ${this.dimension} numbers are expected, not ${query.length}`;
    throw new LorekeepError('DIMENSION_MISMATCH', message, { field: 'query', length: query.length });
  }

  /**
   * Runs many queries in one call (row-major, queries x dimension) on all threads, or on this one if they are few and short.
   * @throws as search()
   */
  async searchMany(queries: Float32Array, options: VectorSearchOptions = {}): Promise<VectorHits[]> {
    const k = hitsArgument(options.k);
    const ef = efArgument(options.ef);
    return this.#search(queries, { ...options, k, ef });
  }

  #search(
    queries: Float32Array,
    options: VectorSearchOptions & { k: number; ef: number },
  ): Promise<VectorHits[]> {
    const { k, ef } = options;
    const count = queries?.length / this.dimension;
    const few = Number.isInteger(count) && count > 0 && count <= maxQueriesNow && count * k <= maxHitsNow;
    const short = few && !options.exact && options.filter === undefined;
    const now = short ? () => this.#searchNow(queries, count, k, ef) : undefined;
    return this.runSearch(options.signal, now, (native, cancel) =>
      this.#searchParts(native, queries, options, cancel),
    );
  }

  /** Searches on this thread. Returns undefined if the searches together take too long for it. */
  #searchNow(queries: Float32Array, count: number, k: number, ef: number): VectorHits[] | undefined {
    const numbers = resultNumbers(resultLength(count, k));
    const asked = vectorsArgument('query', queries, queries.length);
    const done = this.read((native) => native.searchNow(asked, k, ef, numbers));
    countHeld(numbers[head.held] as number);
    return done ? readResults(numbers, count) : undefined;
  }

  async #searchParts(
    native: NativeVectorIndex,
    queries: Float32Array,
    { k, ef, exact = false, filter }: VectorSearchOptions & { k: number; ef: number },
    cancel: NativeCancelToken | undefined,
  ): Promise<VectorHits[]> {
    const width = native.dimension;
    const rows = vectorsArgument('query', queries, width);
    const all: VectorHits[] = [];
    const length = width * Math.max(1, Math.min(queriesPerCall, Math.floor(hitsPerCall / k)));
    for (let begin = 0; begin < rows.length; begin += length) {
      const part = rows.subarray(begin, begin + length);
      const numbers = await native.search(part, k, ef, exact, filter, cancel);
      all.push(...readResults(numbers, part.length / width));
    }
    return all;
  }

  /**
   * Writes the index next to `path` and renames it into place, so that readers see the old file or the new one.
   * @throws UNSUPPORTED (a flat index has no file), INVALID_ARGUMENT (another number of records, or `path` is a file that is
   * not a lorekeep index), IO, CLOSED, CANCELLED.
   */
  async save(path: string, options: SaveIndexOptions = {}): Promise<void> {
    const file = stringArgument('path', path);
    return this.run(options.signal, (native, cancel) =>
      native.save(file, options.fingerprint, options.records?.handle, cancel, options.owner),
    );
  }

  /**
   * @internal Builds an index over the embeddings of records. Consumes the embeddings, even if it fails.
   * @throws INVALID_ARGUMENT if they are in use; OUT_OF_MEMORY, CANCELLED.
   */
  static async fromEmbeddings(rows: EmbeddingRows, options: BuildIndexOptions = {}): Promise<VectorIndex> {
    const native = buildOptions(options);
    return callNative(
      options.signal,
      async (cancel) =>
        new VectorIndex(await binding.indexEmbeddings(rows.handle, native, cancel, options.onProgress)),
    );
  }
}
