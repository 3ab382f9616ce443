import { randomBytes } from 'node:crypto';
import type { FieldDefinition } from '../../../lib/internal.js';
import type { Run } from './client.js';
import { quoted } from './statement.js';

/** The tables of a knowledge base, as statements have them. */
export interface TableNames {
  readonly schema: string;
  readonly name: string;
  readonly records: string;
  /** A row per record and term. */
  readonly words: string;
  /** A row per term: the number of records with it. */
  readonly terms: string;
  /** Numbers of rows that are no more, which later ordinals do not count. */
  readonly gone: string;
  /** One row of facts, with the marker. */
  readonly base: string;
}

/** Names of tables that configs may give: no name needs more than quotes, and suffixes fit into Postgres's 63 bytes. */
export const tablePattern = /^(?:[a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,47}$/;

/** Precondition: the name matches tablePattern. */
export function tableNames(given: string): TableNames {
  const dot = given.indexOf('.');
  const schema = dot < 0 ? 'public' : given.slice(0, dot);
  return namesIn(schema, given.slice(dot + 1), '');
}

/** Tables that a push fills before they take the place of the others: nobody else has their names. */
export const newTables = ({ schema, name }: TableNames): TableNames =>
  namesIn(schema, name, `__${randomBytes(3).toString('hex')}`);

function namesIn(schema: string, name: string, suffix: string): TableNames {
  const of = (part: string) => `${quoted(schema)}.${quoted(`${name}${part}${suffix}`)}`;
  return {
    schema,
    name,
    records: of(''),
    words: of('_words'),
    terms: of('_terms'),
    gone: of('_gone'),
    base: of('_base'),
  };
}

/** Tables without it are not ours. */
export const marker = 'lorekeep knowledge base';

/** Version of the tables. */
export const tablesFormat = 1;

/** Facts of a knowledge base in its table. */
export interface BaseFacts {
  readonly marker: string;
  readonly format: number;
  /** Changes with each push. */
  readonly build: string;
  readonly version: number;
  /** When the version was made, in ms since 1970. */
  readonly time: number;
  readonly documents: number;
  readonly dimension: number;
  /** Name and fingerprint of the embedding model. */
  readonly model: string;
  readonly fingerprint: string;
  readonly tokenizer: string;
  readonly fields: readonly FieldDefinition[] | undefined;
  readonly hnsw: boolean;
}

/** Makes empty tables. */
export async function createTables(tables: TableNames, dimension: number, run: Run): Promise<void> {
  await run(`create table ${tables.base} (
    one boolean primary key default true check (one),
    marker text not null, format int not null, build text not null,
    version bigint not null, time bigint not null, next_row bigint not null,
    documents bigint not null, tokens bigint not null,
    dimension int not null, model text not null, fingerprint text not null, tokenizer text not null, fields jsonb, hnsw boolean not null)`);
  await run(`create table ${tables.records} (
    row bigint primary key, id text collate "C" not null unique, text text not null, metadata jsonb not null,
    length int not null, embedding vector(${Math.trunc(dimension)}) not null)`);
  await run(`create table ${tables.words} (
    term text collate "C" not null, row bigint not null, frequency int not null, length int not null,
    primary key (term, row))`);
  await run(`create table ${tables.terms} (term text collate "C" primary key, documents bigint not null)`);
  await run(`create table ${tables.gone} (row bigint primary key)`);
}

/** Puts filled tables in the place of the others. Searches wait for the end of the transaction from here on. */
export async function replaceTables(tables: TableNames, filled: TableNames, run: Run): Promise<void> {
  // Searches lock them in this order, so none waits for another in a circle.
  for (const part of lockOrder) {
    const [found] = await run(`select to_regclass('${tables[part]}') is not null as there`);
    if (found?.there === true) await run(`lock table ${tables[part]} in access exclusive mode`);
  }
  for (const part of tableParts) {
    await run(`drop table if exists ${tables[part]}`);
    const name = tables[part].slice(tables[part].indexOf('.') + 1);
    await run(`alter table ${filled[part]} rename to ${name}`);
  }
}

const lockOrder = ['base', 'terms', 'words', 'records', 'gone'] as const;
const tableParts = ['base', 'records', 'words', 'terms', 'gone'] as const;
