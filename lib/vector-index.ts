import {
  choiceArgument,
  dimensionArgument,
  efArgument,
  hitsArgument,
  integerArgument,
  stringArgument,
  threadsArgument,
  vectorsArgument,
} from './arguments.js';
import { binding } from './binding.js';
import type { EmbeddingRows } from './embedding-rows.js';
import { LorekeepError } from './errors.js';
import { countHeld } from './event-loop-share.js';
import { Handle } from './handle.js';
import { vectorQuery as at, vectorResult as head, indexHit } from './layout.gen.js';
import type { FileOwner, NativeCancelToken, NativeHnswOptions, NativeVectorIndex } from './native.js';
import { type CallOptions, callNative, type ProgressOptions, toRows } from './native-call.js';
import type { Records } from './records.js';
import { readHits, resultNumbers, type SearchPath, searchPathOf } from './result-numbers.js';

export type VectorType = 'f32' | 'f16' | 'i8';

/** How a graph is built. The defaults suit text embeddings of 100 to 1,000 dimensions. */
export interface HnswOptions {
  /** "hnsw" (default) builds a graph; "flat" keeps the rows alone and searches them all, exactly. */
  kind?: 'flat' | 'hnsw' | undefined;
  /** Links per node on the upper levels, twice as many on the lowest. 2 to 128, default 16. */
  m?: number | undefined;
  /** Candidates held while a row is linked: higher is slower to build and finds more. 1 to 4096, default 200. */
  efConstruction?: number | undefined;
  /**
   * How vectors are held: "f32" (default), "f16" or "i8" (ten bits, of which the graph is walked with eight, and one scale per
   * row). The smaller ones take six tenths and a quarter of the memory, and find nearly the same records.
   */
  vectorType?: VectorType | undefined;
  /** Seed of the level generator. With `threads: 1`, the same rows and seed give the same graph. Default 100. */
  seed?: number | undefined;
  /** Threads that build, 0 (default): all that the process may use. */
  threads?: number | undefined;
}

export interface LoadIndexOptions extends CallOptions {
  /**
   * Read every vector and compare checksums, which takes as long as reading the file. Default true. Without it the file
   * opens at once, and a damaged vector gives wrong distances, never a crash.
   */
  verify?: boolean | undefined;
  /** Numbers per row: another number is an error. Needed for a plain hnswlib file, which does not hold it. Default: any. */
  dimension?: number | undefined;
  /** What the file must have been made from, if it says so: 16 hexadecimal digits. Default: anything. */
  fingerprint?: string | undefined;
}

export interface SaveIndexOptions extends CallOptions {
  /** 16 hexadecimal digits that name what the index was made from. Default: nothing. */
  fingerprint?: string | undefined;
  /** The records of the rows: the file then carries them, and Records.fromIndexFile() need not parse. Default: none. */
  records?: Records | undefined;
  /** The knowledge base that the file is for: one that belongs to another is not replaced. Default: it belongs to none. */
  owner?: FileOwner | undefined;
}

export interface VectorSearchOptions extends CallOptions {
  /** Hits per query, 1 to 10,000, default 10. Fewer come back only when fewer rows match. */
  k?: number | undefined;
  /**
   * Candidates held during a graph search; higher finds more and takes longer. Default 96, or 2k where that is more;
   * less than k counts as k.
   */
  ef?: number | undefined;
  /** Search all rows instead of the graph. Default false. */
  exact?: boolean | undefined;
  /** Ordinals of the rows that may be found, in any order. Default: all. */
  filter?: Uint32Array | undefined;
}

/** How the hits of one query were found. */
export interface VectorPlan {
  /**
   * "exact": every matching row was compared; "graph": the HNSW graph was walked; "cells": the matching rows of the
   * groups of rows that may hold near ones were.
   */
  path: SearchPath;
  /** Rows that the filter let through. */
  matched: number;
  /** Rows whose distance was computed. */
  visited: number;
  /** Whether the hits are certainly the nearest ones. */
  exact: boolean;
}

export interface VectorHits {
  /** Row numbers, nearest first. */
  ordinals: Uint32Array;
  /** Cosine distances, 0 (same direction) to 2 (opposite). */
  distances: Float32Array;
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

/** Queries, and hits, of one call: enough to keep all threads busy, few enough that copying them does not hold the event loop. */
const queriesPerCall = 256;
const hitsPerCall = 100_000;

/** Queries, and hits, of one call that may be searched on this thread: with more of them none is short. */
const mostQueriesNow = 16;
const mostHitsNow = 10_000;

/** The most numbers in a result of this many queries and hits each. */
const resultLength = (queries: number, hits: number): number =>
  head.numbers + queries * (at.numbers + hits * indexHit.numbers);

/** The results of queries, one after another. */
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

/** Rows of numbers, searched by cosine distance: an HNSW graph, or flat. Immutable once built. */
export class VectorIndex extends Handle<NativeVectorIndex> {
  /**
   * Builds an index over a copy of row-major `vectors` (rows x dimension); rows need not be normalised. A zero row has
   * distance 1 to everything. Changing the array before the promise settles may or may not be seen.
   * @throws INVALID_ARGUMENT for a row that holds NaN or infinity, DIMENSION_MISMATCH, OUT_OF_MEMORY.
   */
  static async build(
    vectors: Float32Array,
    dimension: number,
    options: HnswOptions & ProgressOptions = {},
  ): Promise<VectorIndex> {
    const width = dimensionArgument(dimension);
    const native = hnswOptions(options);
    const rows = await toRows(vectorsArgument('vectors', vectors, width), options.signal);
    return callNative(
      options.signal,
      async (cancel) =>
        new VectorIndex(await binding.buildVectorIndex(rows, width, native, cancel, options.onProgress)),
    );
  }

  /**
   * Opens a file written by save(), memory-mapped; header and graph are always checked in full. With `dimension`, also a plain
   * hnswlib file.
   * @throws NOT_FOUND, IO, CORRUPT, DIMENSION_MISMATCH, UNSUPPORTED (another format version; `detail.mismatch` is
   * "fingerprint" for a file made from something else).
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
   * Imports a plain hnswlib file (`save_index` of the Python and C++ libraries; cosine or inner-product space, where
   * the label of a row is its ordinal). hnswlib does not write the dimension down, so the caller says it.
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

  /** Rows. */
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

  get vectorType(): VectorType {
    return this.read((native) => native.vectorType);
  }

  /** Bytes held, mapped files included. */
  get memoryBytes(): number {
    return this.read((native) => native.memoryBytes);
  }

  /**
   * The k nearest rows to one query of `dimension` numbers. Ties are broken by row order.
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
   * The same for many queries in one call (row-major, queries x dimension), searched on all threads, or on this one where they
   * are few and short.
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
    const few = Number.isInteger(count) && count > 0 && count <= mostQueriesNow && count * k <= mostHitsNow;
    const short = few && !options.exact && options.filter === undefined;
    const now = short ? () => this.#searchNow(queries, count, k, ef) : undefined;
    return this.runSearch(options.signal, now, (native, cancel) =>
      this.#searchParts(native, queries, options, cancel),
    );
  }

  /** The hits of searches that are short enough, all together, to be done on this thread. */
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
   * Writes the index beside `path` and renames it into place, so that readers see the old file or the new one.
   * @throws UNSUPPORTED (a flat index has no file), INVALID_ARGUMENT (another number of records; another file than an
   * index of lorekeep is there), IO, CLOSED, CANCELLED.
   */
  async save(path: string, options: SaveIndexOptions = {}): Promise<void> {
    const file = stringArgument('path', path);
    return this.run(options.signal, (native, cancel) =>
      native.save(file, options.fingerprint, options.records?.handle, cancel, options.owner),
    );
  }

  /**
   * @internal Builds an index over the embeddings of records, which are given up, also when this fails.
   * @throws INVALID_ARGUMENT when they are in use; OUT_OF_MEMORY, CANCELLED.
   */
  static async fromEmbeddings(
    rows: EmbeddingRows,
    options: HnswOptions & ProgressOptions = {},
  ): Promise<VectorIndex> {
    const native = hnswOptions(options);
    return callNative(
      options.signal,
      async (cancel) =>
        new VectorIndex(await binding.indexEmbeddings(rows.handle, native, cancel, options.onProgress)),
    );
  }
}
