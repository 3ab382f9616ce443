/** Converts the addon's result, an array of numbers (layout.gen.ts) and arrays of other values, into objects. */

import { storageHit as at, storageResult as head } from '../boundary/layout.gen.js';
import type { NativeField, NativeHitReader } from '../boundary/native.js';
import { itemsAtOnce, type NextSlice, Slices } from '../boundary/slices.js';
import type { Metadata, MetadataValue } from './filter.js';
import type { SnippetPart } from './highlights.js';
import { isoDate } from './iso-date.js';
import { searchPathOf } from './result-numbers.js';
import type { FusionMethod, SearchMode } from './storage-request.js';
import type { VectorPlan } from './vector-index.js';

export interface StorageHit<Own = Metadata> {
  /** Position of the record in the storage. */
  ordinal: number;
  /** Unique within the storage. */
  id: string;
  /** The record's text. */
  text: string;
  /** Values of the record's fields, defaults included; absent if the storage has no fields. */
  metadata?: Own;
  /** Orders the hits. Dense mode: 1 - distance; lexical: the BM25 score; hybrid: the fused score. */
  score: number;
  /** Position among the hits, from 1. */
  rank: number;
  /** Cosine distance, 0 to 2; absent in lexical mode. */
  distance?: number;
  /** Absent in dense mode; 0 for a record without any of the query's words. */
  bm25Score?: number;
  /** Position in the dense leg, from 1, with feedback by the moved query; absent if that leg did not find it. */
  denseRank?: number;
  /** Position in the lexical leg, from 1; absent if that leg did not find it. */
  lexicalRank?: number;
  /** The normalised dense score that a fusion by scores adds up, 0 to 1; absent otherwise. */
  denseScore?: number;
  /** The normalised lexical score, likewise. */
  lexicalScore?: number;
  /** Estimated probability, 0 to 1, that the record is relevant; comparable between queries (docs/concepts/relevance.md). */
  relevance: number;
  /** With `highlight`: the words of the query in `text`, as [begin, end) in UTF-16 code units. */
  highlights?: [number, number][];
  /** With `highlight`: the part of `text` with most words of the query, in pieces. */
  snippet?: SnippetPart[];
}

export interface LexicalPlan {
  /** Words in the tokenized query. With 0, the lexical leg finds nothing. */
  tokens: number;
  /** Distinct query words that occur in any record. */
  terms: number;
  /** Records whose score was computed; the rest could not reach the top. */
  scored: number;
}

export interface StoragePlan {
  /** Mode of the search. */
  mode: SearchMode;
  /** The database that ran it; absent for lorekeep's own indexes. */
  engine?: 'postgres';
  /** How the dense leg ran; absent in lexical mode. */
  dense?: VectorPlan;
  /** How the lexical leg ran; absent in dense mode. */
  lexical?: LexicalPlan;
  /** How the legs were fused; hybrid mode only. */
  fusion?: FusionPlan;
}

export interface FusionPlan {
  /** By ranks, or by scores. */
  method: FusionMethod;
  /** The weights of this query, together 1; only in a fusion by scores. */
  weights?: { dense: number; lexical: number };
  /** Of a search with feedback that found something relevant. */
  feedback?: FeedbackPlan;
}

export interface FeedbackPlan {
  /** Weight of the best hits' embeddings; the query's own has 1. */
  weight: number;
  /** Hits that the search would not have without feedback. */
  added: number;
}

/** Milliseconds of the parts of a search. The legs of a hybrid search may run at the same time. */
export interface SearchTimes {
  /** Evaluation of the filter. */
  filter: number;
  /** The dense leg. */
  dense: number;
  /** The lexical leg. */
  lexical: number;
  /** Fusion of the legs. */
  fusion: number;
}

export interface StorageSearchResult {
  /** Best first. */
  hits: StorageHit[];
  /** How the search ran. */
  plan: StoragePlan;
  /** The storage's version that was searched. */
  version: number;
}

export interface TimedSearchResult extends StorageSearchResult {
  /** Time of each step. */
  times: SearchTimes;
  /** Cosine of the query and records of other subjects (docs/concepts/relevance.md); absent in lexical mode and without hits. */
  cosineFloor?: number;
}

/** Returns the largest number of values in a result with this many hits. */
export function resultLength(hits: number, fields: readonly NativeField[] | undefined): number {
  return head.numbers + hits * (at.numbers + (fields?.length ?? 0));
}

/** Reads a result once, front to back. */
class ResultReader {
  readonly hits: StorageHit[] = [];
  readonly #numbers: Float64Array;
  readonly #fields: readonly NativeField[] | undefined;
  #rest: readonly unknown[] = [];
  #nextNumber: number = head.numbers;
  #nextRest = 0;

  constructor(numbers: Float64Array, fields: readonly NativeField[] | undefined) {
    this.#numbers = numbers;
    this.#fields = fields;
  }

  /** Converts the next hits. `rest`: their values other than numbers. */
  read(rest: readonly unknown[]): void {
    this.#rest = rest;
    this.#nextRest = 0;
    while (this.#nextRest < rest.length) this.hits.push(this.#hit(this.hits.length + 1));
  }

  #hit(rank: number): StorageHit {
    const begin = this.#nextNumber;
    const number = (position: number) => this.#numbers[begin + position] as number;
    this.#nextNumber += at.numbers;
    const ordinal = number(at.ordinal);
    const score = number(at.score);
    const distance = number(at.distance);
    const bm25Score = number(at.bm25Score);
    const denseRank = number(at.denseRank);
    const lexicalRank = number(at.lexicalRank);
    const denseScore = number(at.denseScore);
    const lexicalScore = number(at.lexicalScore);
    const relevance = number(at.relevance);
    const id = this.#other() as string;
    const text = this.#other() as string;
    const hit: StorageHit =
      this.#fields === undefined
        ? { ordinal, id, text, score, rank, relevance }
        : { ordinal, id, text, metadata: this.#metadata(this.#fields), score, rank, relevance };
    if (!Number.isNaN(distance)) hit.distance = distance;
    if (!Number.isNaN(bm25Score)) hit.bm25Score = bm25Score;
    if (!Number.isNaN(denseRank)) hit.denseRank = denseRank;
    if (!Number.isNaN(lexicalRank)) hit.lexicalRank = lexicalRank;
    if (!Number.isNaN(denseScore)) hit.denseScore = denseScore;
    if (!Number.isNaN(lexicalScore)) hit.lexicalScore = lexicalScore;
    return hit;
  }

  #metadata(fields: readonly NativeField[]): Metadata {
    const metadata: Metadata = {};
    for (const { name, type, format } of fields) {
      const number = this.#number();
      const value = Number.isNaN(number)
        ? (this.#other() as MetadataValue | undefined)
        : type === 'bool'
          ? number === 1
          : format === undefined
            ? number
            : isoDate(number, format);
      if (value !== undefined) setMember(metadata, name, value);
    }
    return metadata;
  }

  #number(): number {
    return this.#numbers[this.#nextNumber++] as number;
  }

  #other(): unknown {
    return this.#rest[this.#nextRest++];
  }
}

/** Sets a property like an assignment, but also works for a field named "__proto__". */
function setMember(metadata: Metadata, name: string, value: MetadataValue): void {
  if (name === '__proto__') {
    Object.defineProperty(metadata, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    metadata[name] = value;
  }
}

function planOf(mode: SearchMode, numbers: Float64Array): StoragePlan {
  const number = (position: number) => numbers[position] as number;
  const plan: StoragePlan = { mode };
  if (number(head.dense) === 1) {
    plan.dense = {
      path: searchPathOf(number(head.path)),
      matched: number(head.matched),
      visited: number(head.visited),
      exact: number(head.exact) === 1,
    };
  }
  if (number(head.lexical) === 1)
    plan.lexical = { tokens: number(head.tokens), terms: number(head.terms), scored: number(head.scored) };
  if (mode === 'hybrid') {
    const dense = number(head.scoreWeight);
    plan.fusion = Number.isNaN(dense)
      ? { method: 'rrf' }
      : { method: 'scores', weights: { dense, lexical: 1 - dense } };
    const weight = number(head.feedback);
    if (!Number.isNaN(weight)) plan.fusion.feedback = { weight, added: number(head.feedbackAdded) };
  }
  return plan;
}

function timesOf(numbers: Float64Array): SearchTimes {
  const number = (position: number) => numbers[position] as number;
  return {
    filter: number(head.filterMs),
    dense: number(head.denseMs),
    lexical: number(head.lexicalMs),
    fusion: number(head.fusionMs),
  };
}

/** Returns the parts of a result besides its hits. */
function headOf(mode: SearchMode, numbers: Float64Array): Omit<TimedSearchResult, 'hits'> {
  const cosineFloor = numbers[head.floor] as number;
  const version = numbers[head.version] as number;
  const facts = { plan: planOf(mode, numbers), version, times: timesOf(numbers) };
  return Number.isNaN(cosineFloor) ? facts : { ...facts, cosineFloor };
}

/** Converts the result of a search on this thread. */
export function storageResult(
  mode: SearchMode,
  numbers: Float64Array,
  rest: readonly unknown[],
  fields: readonly NativeField[] | undefined,
): TimedSearchResult {
  const reader = new ResultReader(numbers, fields);
  reader.read(rest);
  return { hits: reader.hits, ...headOf(mode, numbers) };
}

export interface Conversion {
  mode: SearchMode;
  fields: readonly NativeField[] | undefined;
  signal: AbortSignal | undefined;
  nextSlice: NextSlice;
}

/** Converts the result of a search on another thread. A long one is converted in slices. @throws CANCELLED */
export async function convertResult(
  numbers: Float64Array,
  readHits: NativeHitReader,
  { mode, fields, signal, nextSlice }: Conversion,
): Promise<TimedSearchResult> {
  const count = numbers[head.hits] as number;
  const reader = new ResultReader(numbers, fields);
  const slices = new Slices(nextSlice, signal);
  try {
    while (reader.hits.length < count) {
      const at = reader.hits.length;
      if ((at > 0 || count > itemsAtOnce) && slices.over) await slices.next();
      reader.read(readHits(numbers, at, Math.min(at + itemsAtOnce, count)));
    }
  } finally {
    readHits();
  }
  return { hits: reader.hits, ...headOf(mode, numbers) };
}
