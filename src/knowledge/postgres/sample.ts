import { type Background, backgroundOf, sampledOrdinals, sampledRows, vectorOf } from './background.js';
import type { PostgresClient } from './client.js';
import { rowsOfOrdinals } from './ordinals.js';
import { Statement } from './statement.js';
import type { TableNames } from './tables.js';

/** Embeddings of evenly spaced records of one version, which relevance and the fusion by scores compare with. */
export class Sample {
  readonly #client: PostgresClient;
  readonly #tables: TableNames;
  #loaded: { readonly of: string; readonly rows: readonly Float32Array[] } | undefined;

  constructor(client: PostgresClient, tables: TableNames) {
    this.#client = client;
    this.#tables = tables;
  }

  get bytes(): number {
    return this.#loaded?.rows.reduce((sum, { byteLength }) => sum + byteLength, 0) ?? sampledRows;
  }

  /** Returns the statistics of a query's cosines. Reads the embeddings when the version is another one. */
  async of(
    query: Float32Array,
    { build, version, documents }: { build: string; version: number; documents: number },
    signal: AbortSignal | undefined,
  ): Promise<Background> {
    const of = `${build} ${version}`;
    if (this.#loaded?.of !== of) this.#loaded = { of, rows: await this.#read(documents, signal) };
    return backgroundOf(this.#loaded.rows, query);
  }

  async #read(documents: number, signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const { records, gone } = this.#tables;
    const statement = new Statement();
    const pairs = sampledOrdinals(documents).map((ordinal) => [ordinal, -1]);
    const places = statement.bind(JSON.stringify(pairs), 'jsonb');
    const text = `${rowsOfOrdinals(places, gone)}
      select r.embedding::text as embedding from places p join ${records} r on r.row = p.row order by p.place`;
    const rows = await this.#client.read({ text, values: statement.values }, signal);
    return rows.map(({ embedding }) => vectorOf(embedding as string));
  }
}
