import {
  type CallOptions,
  type CountOptions,
  type FieldDefinition,
  type Filter,
  type FilterExpression,
  idsArgument,
  type LexicalOptions,
  type ListOptions,
  LorekeepError,
  listRange,
  nativeLexical,
  Storage,
  type StorageChanges,
  type StorageHit,
  type StorageSearchOptions,
  type StorageSearchResult,
  type StorageVersion,
  type StoredRecord,
  type TimedSearchResult,
  type Tokenizer,
  type UpdateResult,
  type VersionLimits,
} from '../../../lib/internal.js';
import type { StorageEngine } from '../storage-engine.js';
import { dot, vectorOf } from './background.js';
import { changeTables, forgetRecords } from './changes.js';
import type { BoundStatement, PostgresClient, Row } from './client.js';
import { readFacts, requireSame } from './facts.js';
import { filterSql } from './filter-sql.js';
import { metadataOf } from './metadata.js';
import { ordinalOf, ordinalParts, rowsOfOrdinals } from './ordinals.js';
import { Sample } from './sample.js';
import { runSearch, type SearchSource } from './search.js';
import { isStorable, Statement } from './statement.js';
import type { BaseFacts, TableNames } from './tables.js';

/** What all views of a base share. */
interface Shared extends Omit<SearchSource, 'facts'> {
  facts: BaseFacts;
  /** Without records: it checks filters and fields as the embedded engine does. */
  readonly checker: Storage;
  /** Numbers of records with the words of searches. */
  readonly frequencies: Map<string, number>;
  /** The expressions of compiled filters. */
  readonly expressions: WeakMap<Filter, FilterExpression>;
}

export interface PostgresBase {
  readonly client: PostgresClient;
  readonly tables: TableNames;
  readonly facts: BaseFacts;
  readonly fields: readonly FieldDefinition[] | undefined;
  readonly tokenizer: Tokenizer;
  /** Candidates of a walk of the index without `ef`. */
  readonly ef: number | undefined;
  /** With an index, at most so many matching records are all compared. Default: as many as take no longer than a walk. */
  readonly scannedRows?: number;
}

/** Words whose numbers of records are remembered, at most. */
const rememberedWords = 10_000;

/** Largest rounding error of a distance between equal texts. */
const rounding = 1e-6;

/** The records of a knowledge base in tables of Postgres. Many processes may search and change them. */
export class PostgresEngine implements StorageEngine {
  readonly #shared: Shared;
  /** Of a pinned view: the rows of the ordinals of its hits. Rows never change, so they stay what they were. */
  readonly #rows: Map<number, number> | undefined;
  /** The version that was asked for; undefined: whichever is the newest. */
  readonly #at: number | undefined;

  private constructor(shared: Shared, rows?: Map<number, number>, at?: number) {
    this.#shared = shared;
    this.#rows = rows;
    this.#at = at;
  }

  static async open(base: PostgresBase): Promise<PostgresEngine> {
    const { facts, fields, tokenizer } = base;
    const checker = await Storage.empty(facts.dimension, { fields, tokenizer });
    const sample = new Sample(base.client, base.tables);
    return new PostgresEngine({
      ...base,
      scannedRows: base.scannedRows,
      checker,
      sample,
      expressions: new WeakMap(),
      frequencies: new Map(),
    });
  }

  get size(): number {
    return this.#shared.facts.documents;
  }

  get dimension(): number {
    return this.#shared.facts.dimension;
  }

  get tokenizer(): Tokenizer {
    return this.#shared.tokenizer;
  }

  get fields(): Storage['fields'] {
    return this.#shared.checker.fields;
  }

  /** Memory in this process. */
  get memoryBytes(): number {
    return this.#shared.checker.memoryBytes + this.#shared.sample.bytes;
  }

  /** The newest version that this process has seen. */
  get version(): number {
    return this.#shared.facts.version;
  }

  versions(): StorageVersion[] {
    const { version, time, documents: size } = this.#shared.facts;
    return [{ version, time, size }];
  }

  /** Limits are upper bounds, and the newest version alone is kept. */
  keepVersions(_limits: VersionLimits): void {}

  pin(): PostgresEngine {
    return new PostgresEngine(this.#shared, new Map());
  }

  release(): void {
    this.#rows?.clear();
  }

  /** @throws VERSION_GONE for any version but the newest */
  at(version: number): PostgresEngine {
    const { facts } = this.#shared;
    if (version === facts.version) return new PostgresEngine(this.#shared, new Map(), version);
    throw versionGone(version, facts.version);
  }

  keptFilter(expression: Filter | FilterExpression): Filter {
    const { checker, expressions } = this.#shared;
    const filter = checker.keptFilter(expression);
    if (filter !== expression) expressions.set(filter, expression as FilterExpression);
    return filter;
  }

  /** Returns how many records contain a word of an earlier search, as that search saw it; 0 for other words. */
  documentFrequency(word: string): number {
    return this.#shared.frequencies.get(word) ?? 0;
  }

  /** @throws INVALID_ARGUMENT for anything but plain words */
  checkLexical(options: LexicalOptions | undefined): void {
    this.#shared.checker.checkLexical(options);
    if (nativeLexical(options) === undefined) return;
    const reason =
      'the engine postgres looks for plain words alone: without querySyntax "extended", fuzziness, boosts, stopwords and synonyms';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'lexical', reason });
  }

  async search(options: StorageSearchOptions): Promise<StorageSearchResult> {
    const { hits, plan, version } = await this.searchInSlices(options);
    return { hits, plan, version };
  }

  async searchInSlices(
    options: StorageSearchOptions,
    _nextSlice?: unknown,
    marked = options.lexical,
  ): Promise<TimedSearchResult> {
    this.checkLexical(options.lexical);
    const where = await this.#where(options);
    const { result, rows, facts, words } = await runSearch(this.#shared, options, where);
    this.#remember(words);
    if (this.#at !== undefined && facts.version !== this.#at) throw versionGone(this.#at, facts.version);
    if (facts.build !== this.#shared.facts.build) await this.#requireSame(options.signal);
    this.#shared.facts = { ...this.#shared.facts, ...facts };
    for (const [index, { ordinal }] of result.hits.entries()) this.#rows?.set(ordinal, rows[index] as number);
    if (options.highlight) await this.addHighlights(result.hits, { ...options, lexical: marked });
    return result;
  }

  /** Marks words in a storage of the hits alone: marks depend on the texts alone. */
  async addHighlights(
    hits: readonly StorageHit[],
    options: Pick<StorageSearchOptions, 'text' | 'lexical' | 'highlight' | 'signal'>,
    nextSlice: Parameters<Storage['addHighlights']>[2] = async () => {},
  ): Promise<void> {
    if (hits.length === 0) return;
    const records = hits.map(({ text }, index) => ({ id: String(index), text }));
    const { tokenizer } = this.#shared;
    const ones = new Float32Array(hits.length).fill(1);
    const storage = await Storage.build(records, ones, 1, { tokenizer, kind: 'flat' });
    try {
      const marked = hits.map((hit, ordinal) => ({ ...hit, ordinal }));
      await storage.addHighlights(marked, options, nextSlice);
      for (const [index, { snippet, highlights }] of marked.entries()) {
        const hit = hits[index] as StorageHit;
        if (snippet !== undefined) hit.snippet = snippet;
        if (highlights !== undefined) hit.highlights = highlights;
      }
    } finally {
      await storage.close();
    }
  }

  async get(id: string, options: CallOptions = {}): Promise<StoredRecord | undefined> {
    const [record] = await this.getMany([id], options);
    return record;
  }

  async getMany(ids: readonly string[], { signal }: CallOptions = {}): Promise<StoredRecord[]> {
    const found = await this.#byIds(ids, 'r.text, r.metadata::text as metadata', signal);
    return found.map((row) => this.#record(row));
  }

  async has(id: string, options: CallOptions = {}): Promise<boolean> {
    return (await this.known([id], options)).length > 0;
  }

  async known(ids: readonly string[], { signal }: CallOptions = {}): Promise<string[]> {
    return (await this.#byIds(ids, '1 as one', signal)).map(({ id }) => id as string);
  }

  async list(options: ListOptions = {}): Promise<StoredRecord[]> {
    const { begin, limit } = listRange(options);
    const where = await this.#where(options);
    const { records, gone } = this.#shared.tables;
    const statement = new Statement();
    const text = `with page as materialized (select r.row, r.id, r.text, r.metadata::text as metadata from ${records} r where ${where === undefined ? 'true' : where(statement, 'r')}
      order by r.row offset ${statement.bind(begin, 'bigint')} limit ${statement.bind(limit, 'bigint')}),
      ${ordinalParts('page', gone)} select p.*, ${ordinalOf('p.row')} as ordinal from page p order by p.row`;
    return (await this.#read({ text, values: statement.values }, options.signal)).map((row) =>
      this.#record(row),
    );
  }

  async count(options: CountOptions = {}): Promise<number> {
    const where = await this.#where(options);
    const statement = new Statement();
    const text = `select count(*) as found from ${this.#shared.tables.records} r where ${where === undefined ? 'true' : where(statement, 'r')}`;
    const [row] = await this.#read({ text, values: statement.values }, options.signal);
    return Number(row?.found);
  }

  async embedding(id: string, { signal }: CallOptions = {}): Promise<Float32Array | undefined> {
    const [row] = await this.#byIds([id], 'r.embedding::text as embedding', signal);
    return row === undefined ? undefined : vectorOf(row.embedding as string);
  }

  /** Records that went meanwhile are absent. */
  async recordsAt(ordinals: Uint32Array, signal: AbortSignal | undefined): Promise<StoredRecord[]> {
    const found = await this.#byOrdinals(ordinals, 'r.id, r.text, r.metadata::text as metadata', signal);
    return found.map((row) => this.#record(row));
  }

  async distinct(
    ordinals: Uint32Array,
    distance: number,
    most: number,
    signal: AbortSignal | undefined,
  ): Promise<Uint32Array> {
    const found = await this.#byOrdinals(ordinals, 'r.embedding::text as embedding', signal);
    const vectors = new Map(found.map((row) => [Number(row.ordinal), vectorOf(row.embedding as string)]));
    const positions: number[] = [];
    const kept: Float32Array[] = [];
    for (const [position, ordinal] of ordinals.entries()) {
      signal?.throwIfAborted();
      const vector = vectors.get(ordinal);
      if (vector === undefined || positions.length >= most) continue;
      if (kept.some((earlier) => 1 - dot(earlier, vector) <= distance + rounding)) continue;
      positions.push(position);
      kept.push(vector);
    }
    return Uint32Array.from(positions);
  }

  /** @throws UNSUPPORTED unless the connection may write; RECORD_EXISTS, RECORD_MISSING, DUPLICATE_ID, VERSION_MISMATCH */
  async update(
    changes: StorageChanges,
    vectors: Float32Array = new Float32Array(0),
    { signal }: CallOptions = {},
  ): Promise<UpdateResult> {
    const { result, facts } = await changeTables(this.#shared, changes, vectors, signal);
    this.#shared.facts = { ...this.#shared.facts, ...facts };
    return result;
  }

  async forget(ids: readonly string[], { signal }: CallOptions = {}): Promise<UpdateResult> {
    const { result, facts } = await forgetRecords(this.#shared, idsArgument(ids), signal);
    this.#shared.facts = { ...this.#shared.facts, ...facts };
    return result;
  }

  get closed(): boolean {
    return this.#shared.checker.closed;
  }

  /** The connection stays its owner's. */
  async close(): Promise<void> {
    if (this.#rows === undefined) await this.#shared.checker.close();
  }

  /** After another push. */
  async #requireSame(signal: AbortSignal | undefined): Promise<void> {
    const { client, tables, facts } = this.#shared;
    requireSame({ ...(await readFacts(client, tables, signal)) }, facts);
  }

  #remember(words: ReadonlyMap<string, number>): void {
    const { frequencies } = this.#shared;
    if (frequencies.size + words.size > rememberedWords) frequencies.clear();
    for (const [word, documents] of words) frequencies.set(word, documents);
  }

  /** Returns the writer of a filter's condition, after the addon has checked it and its variables. */
  async #where(
    options: CountOptions,
  ): Promise<((statement: Statement, table: string) => string) | undefined> {
    const { checker, expressions, fields = [] } = this.#shared;
    const { variables = {}, signal } = options;
    const filter = options.filter === undefined ? undefined : this.keptFilter(options.filter);
    await checker.count({ filter, variables: options.variables, signal });
    if (filter === undefined) return undefined;
    const expression = expressions.get(filter);
    if (expression === undefined)
      throw LorekeepError.about('INVALID_ARGUMENT', {
        field: 'filter',
        reason: 'it was compiled for another storage; give the expression',
      });
    return (statement, table) => filterSql(expression, variables, { fields, statement, table });
  }

  #record({ ordinal, id, text, metadata }: Row): StoredRecord {
    const own = metadataOf(metadata as string, this.#shared.fields);
    const record = { ordinal: Number(ordinal), id: id as string, text: text as string };
    return own === undefined ? record : { ...record, metadata: own };
  }

  /** Reads columns of the records with these ids, in their order. */
  #byIds(ids: readonly string[], columns: string, signal: AbortSignal | undefined): Promise<Row[]> {
    const { records, gone } = this.#shared.tables;
    const statement = new Statement();
    const asked = statement.bind(JSON.stringify(idsArgument(ids).filter(isStorable)), 'jsonb');
    const text = `with page as materialized (select a.id, a.place, r.row, ${columns}
      from jsonb_array_elements_text(${asked}) with ordinality as a(id, place) join ${records} r on r.id = a.id),
      ${ordinalParts('page', gone)} select p.*, ${ordinalOf('p.row')} as ordinal from page p order by p.place`;
    return this.#read({ text, values: statement.values }, signal);
  }

  /** Reads columns of the records at ordinals, in their order. */
  #byOrdinals(ordinals: Uint32Array, columns: string, signal: AbortSignal | undefined): Promise<Row[]> {
    const { records, gone } = this.#shared.tables;
    const statement = new Statement();
    const asked = Array.from(ordinals, (ordinal) => [ordinal, this.#rows?.get(ordinal) ?? -1]);
    const places = statement.bind(JSON.stringify(asked), 'jsonb');
    const text = `${rowsOfOrdinals(places, gone)}
      select p.ordinal, ${columns} from places p join ${records} r on r.row = p.row order by p.place`;
    return this.#read({ text, values: statement.values }, signal);
  }

  #read(statement: BoundStatement, signal: AbortSignal | undefined): Promise<Row[]> {
    return this.#shared.client.read(statement, signal);
  }
}

const versionGone = (asked: number, newest: number) =>
  new LorekeepError(
    'VERSION_GONE',
    `version ${asked} is gone: the engine postgres keeps the newest version alone, ${newest}`,
    { version: newest },
  );
