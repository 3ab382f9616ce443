import { randomUUID } from 'node:crypto';
import { type FieldDefinition, LorekeepError, type Storage } from '../../../lib/internal.js';
import { requireWrites } from './changes.js';
import type { PostgresClient, Run } from './client.js';
import { baseFacts } from './facts.js';
import { fillTables, type TableRow } from './fill.js';
import { requireText } from './metadata.js';
import { literal, Statement } from './statement.js';
import {
  type BaseFacts,
  createTables,
  marker,
  newTables,
  replaceTables,
  type TableNames,
  tablesFormat,
} from './tables.js';

export interface PushOptions {
  readonly client: PostgresClient;
  readonly tables: TableNames;
  readonly model: Pick<BaseFacts, 'model' | 'fingerprint'>;
  readonly fields: readonly FieldDefinition[] | undefined;
  /** How the index of vectors is built; undefined: none. */
  readonly hnsw: { m: number; efConstruction: number } | undefined;
  /** Whether tables with records are replaced. */
  readonly replace: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Records read and written at a time. */
const atOnce = 2000;
/** Building an index of millions of records takes hours. */
const longestPushMs = 86_400_000;

/**
 * Writes the records, vectors, words and statistics of a storage into tables, in one transaction: searches see the tables before or
 * the new ones. Returns the number of records.
 * @throws INVALID_ARGUMENT for tables that are not ours, or have records without `replace`; UNSUPPORTED, EngineError
 */
export async function pushStorage(storage: Storage, options: PushOptions): Promise<number> {
  const { client, tables, fields, signal } = options;
  requireWrites(client);
  for (const { name } of fields ?? []) requireText(name, `the field ${JSON.stringify(name)}`);
  const view = storage.pin();
  try {
    return await client.transaction((run) => pushInto(view, options, run), signal, longestPushMs);
  } finally {
    view.release();
  }

  async function pushInto(from: Storage, { model, hnsw, replace, onProgress }: PushOptions, run: Run) {
    await run('create extension if not exists vector');
    // Pushes of one name wait for each other.
    const lock = new Statement();
    await run(
      `select pg_advisory_xact_lock(hashtext(${lock.bind(`${tables.schema}.${tables.name}`, 'text')}))`,
      lock.values,
    );
    const earlier = await refuseOthers(tables, { replace, connection: client.name }, run);
    const filled = newTables(tables);
    await createTables(filled, from.dimension, run);
    let tokens = 0;
    for (let offset = 0; offset < from.size; offset += atOnce) {
      const records = await from.list({ offset, limit: atOnce, signal });
      const rows = await Promise.all(
        records.map(async ({ ordinal, id, text, metadata }): Promise<TableRow> => {
          const embedding = (await from.embedding(id, { signal })) as Float32Array;
          return { row: ordinal, id, text, metadata, embedding };
        }),
      );
      tokens += await fillTables(
        rows,
        { tables: filled, fields, tokenizer: from.tokenizer, counts: false },
        run,
      );
      onProgress?.(offset + rows.length, from.size);
    }
    await run(`insert into ${filled.terms} select term, count(*) from ${filled.words} group by term`);
    await run(`create index on ${filled.words} (row)`);
    for (const index of filterIndexes(fields ?? [])) await run(`create index on ${filled.records} ${index}`);
    if (hnsw !== undefined && from.size > 0)
      await run(
        `create index on ${filled.records} using hnsw (embedding vector_cosine_ops) with (m = ${Math.trunc(hnsw.m)}, ef_construction = ${Math.trunc(hnsw.efConstruction)})`,
      );
    await insertFacts(
      from,
      { tables: filled, tokens, model, fields, hnsw: hnsw !== undefined, after: earlier },
      run,
    );
    for (const part of [filled.records, filled.words, filled.terms]) await run(`analyze ${part}`);
    await replaceTables(tables, filled, run);
    return from.size;
  }
}

/** The indexes that conditions of filter-sql.ts use: one for equal texts and flags and for members of sets, one per number. */
function filterIndexes(fields: readonly FieldDefinition[]): string[] {
  const isNumber = ({ type }: FieldDefinition) => type === 'int' || type === 'float';
  const numbers = fields.filter(isNumber).map(({ name }) => `(((metadata[${literal(name)}])::numeric))`);
  return fields.every(isNumber) ? numbers : ['using gin (metadata jsonb_path_ops)', ...numbers];
}

async function insertFacts(
  storage: Storage,
  {
    tables,
    tokens,
    model,
    fields,
    hnsw,
    after,
  }: {
    tables: TableNames;
    tokens: number;
    model: PushOptions['model'];
    fields: readonly FieldDefinition[] | undefined;
    hnsw: boolean;
    /** The version that is replaced: no number has two contents. */
    after: number | undefined;
  },
  run: Run,
): Promise<void> {
  const { size, dimension, tokenizer } = storage;
  const version = Math.max(storage.version, (after ?? -1) + 1);
  const time = storage.versions().at(-1)?.time ?? Date.now();
  const statement = new Statement();
  const places = [
    statement.bind(marker, 'text'),
    statement.bind(tablesFormat, 'int'),
    statement.bind(randomUUID(), 'text'),
    statement.bind(version, 'bigint'),
    statement.bind(Math.trunc(time), 'bigint'),
    statement.bind(size, 'bigint'),
    statement.bind(size, 'bigint'),
    statement.bind(tokens, 'bigint'),
    statement.bind(dimension, 'int'),
    statement.bind(model.model, 'text'),
    statement.bind(model.fingerprint, 'text'),
    statement.bind(tokenizer, 'text'),
    statement.bind(JSON.stringify(fields ?? null), 'jsonb'),
    String(hnsw),
  ];
  const columns =
    'marker, format, build, version, time, next_row, documents, tokens, dimension, model, fingerprint, tokenizer, fields, hnsw';
  await run(`insert into ${tables.base} (${columns}) values (${places.join(', ')})`, statement.values);
}

/**
 * Returns the version of tables that are replaced, if there are any.
 * @throws INVALID_ARGUMENT for tables that are not ours, or have records that are not to be replaced
 */
async function refuseOthers(
  tables: TableNames,
  { replace, connection }: { replace: boolean; connection: string },
  run: Run,
): Promise<number | undefined> {
  const { schema, name } = tables;
  const statement = new Statement();
  const found = await run(
    `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${statement.bind(schema, 'text')} and c.relname in (${['', '_words', '_terms', '_gone', '_base'].map((part) => statement.bind(name + part, 'text')).join(', ')})`,
    statement.values,
  );
  if (found.length === 0) return undefined;
  const refuse = (reason: string, remedy: string) =>
    LorekeepError.about('INVALID_ARGUMENT', {
      field: 'engine.table',
      reason: `the connection ${JSON.stringify(connection)}: ${JSON.stringify(`${schema}.${name}`)} ${reason}`,
      remedy,
    });
  const names = new Set(found.map(({ relname }) => relname));
  if (!names.has(`${name}_base`)) throw refuse('is a table that lorekeep did not make', 'give another name');
  const [row] = await run(`select * from ${tables.base}`);
  const { documents, version } = baseFacts(row, { tables, connection });
  if (documents > 0 && !replace)
    throw refuse(`has ${documents} records`, '`lorekeep push --replace` replaces them');
  return version;
}
