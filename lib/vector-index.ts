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
import type {
  FileOwner,
  NativeCancelToken,
  NativeHnswOptions,
  NativeVectorHits,
  NativeVectorIndex,
} from './native.js';
import { type CallOptions, callNative, type ProgressOptions, toRows } from './native-call.js';
import type { Records } from './records.js';
import { readPairs, resultNumbers, type SearchPath, searchPathOf } from './result-numbers.js';

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
}

export interface SaveIndexOptions extends CallOptions {
  /** 16 hexadecimal digits that name what the index was made from. Default: nothing. */
  fingerprint?: string | undefined;
  /** The records of the rows: the file then carries them, and Records.fromIndexFile() need not parse. Default: none. */
  records?: Records | undefined;
  /** The knowledge base that the file is for: one that belongs to another is not replaced. Default: it belongs to none. */
  owner?: FileOwner | undefined;
}

export interface OpenIndexOptions extends CallOptions {
  dimension: number;
  /** What the file must have been made from, if it says. */
  fingerprint: string;
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
export interface SearchPlan {
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
  plan: SearchPlan;
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

/** Enough to keep all threads busy, few enough that copying them does not hold the event loop. */
const queriesPerCall = 256;

const planNumbers = 4;

/** Plans cross as numbers: objects made one by one from C++ took as long as every twentieth search. */
const readPlan = (numbers: Float64Array, at: number): SearchPlan => ({
  path: searchPathOf(numbers[at] as number),
  matched: numbers[at + 1] as number,
  visited: numbers[at + 2] as number,
  exact: numbers[at + 3] === 1,
});

function splitHits({ ordinals, distances, counts, plans }: NativeVectorHits): VectorHits[] {
  const all: VectorHits[] = [];
  let begin = 0;
  for (const [query, count] of counts.entries()) {
    const end = begin + count;
    const plan = readPlan(plans, query * planNumbers);
    all.push({ ordinals: ordinals.subarray(begin, end), distances: distances.subarray(begin, end), plan });
    begin = end;
  }
  return all;
}

/** Queries, and hits, of one call that may be searched on this thread: with more of them none is short. */
const mostQueriesNow = 16;
const mostHitsNow = 10_000;

/** Of a query: how many hits, then the plan. */
const headNumbers = 1 + planNumbers;

/** What searchNow() of the addon wrote, behind the time that it took. */
function readHits(numbers: Float64Array, queries: number): VectorHits[] {
  const all: VectorHits[] = [];
  let at = 1;
  for (let query = 0; query < queries; query++) {
    const count = numbers[at] as number;
    const { ordinals, values } = readPairs(numbers, at + headNumbers, count);
    all.push({ ordinals, distances: values, plan: readPlan(numbers, at + 1) });
    at += headNumbers + 2 * count;
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
   * Opens a file written by save(). It is memory-mapped; header and graph are always checked in full.
   * @throws NOT_FOUND, IO, CORRUPT, UNSUPPORTED (another format version).
   */
  static async load(path: string, options: LoadIndexOptions = {}): Promise<VectorIndex> {
    const file = stringArgument('path', path);
    return callNative(
      options.signal,
      async (cancel) => new VectorIndex(await binding.loadVectorIndex(file, options.verify ?? true, cancel)),
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

  /**
   * Opens a file of either kind: one written by save(), whose fingerprint must be the expected one if it has one, or a
   * plain hnswlib file.
   * @throws NOT_FOUND, IO, CORRUPT, DIMENSION_MISMATCH, UNSUPPORTED (`detail.reason` is "fingerprint" for the wrong one).
   */
  static async open(path: string, options: OpenIndexOptions): Promise<VectorIndex> {
    const file = stringArgument('path', path);
    const width = dimensionArgument(options.dimension);
    return callNative(
      options.signal,
      async (cancel) =>
        new VectorIndex(await binding.openVectorIndex(file, width, options.fingerprint, cancel)),
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
    throw new LorekeepError('DIMENSION_MISMATCH', message, { argument: 'query', length: query.length });
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
    const numbers = resultNumbers(1 + count * (headNumbers + 2 * k));
    const asked = vectorsArgument('query', queries, queries.length);
    const done = this.read((native) => native.searchNow(asked, k, ef, numbers));
    countHeld(numbers[0] as number);
    return done ? readHits(numbers, count) : undefined;
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
    for (let begin = 0; begin < rows.length; begin += queriesPerCall * width) {
      const part = rows.subarray(begin, begin + queriesPerCall * width);
      all.push(...splitHits(await native.search(part, k, ef, exact, filter, cancel)));
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
