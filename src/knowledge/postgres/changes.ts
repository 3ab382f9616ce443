import {
  type FieldDefinition,
  LorekeepError,
  type Metadata,
  Storage,
  type StorageChanges,
  type StorageRecord,
  type UpdateResult,
} from '../../../lib/internal.js';
import { checkDuplicates, checkIds } from '../changes/prepare.js';
import type { PostgresClient, Run } from './client.js';
import { absentFacts, requireSame } from './facts.js';
import { fillTables, type TableRow } from './fill.js';
import { isStorable, Statement } from './statement.js';
import type { BaseFacts, TableNames } from './tables.js';

/** The tables that are changed. */
export interface ChangedTables {
  readonly client: PostgresClient;
  readonly tables: TableNames;
  readonly facts: BaseFacts;
  readonly fields: readonly FieldDefinition[] | undefined;
}

export interface Changed {
  readonly result: UpdateResult;
  readonly facts: Pick<BaseFacts, 'version' | 'time' | 'documents'>;
}

/** @throws UNSUPPORTED for a connection without `writes` */
export function requireWrites({ name, settings }: PostgresClient): void {
  if (settings.writes === true) return;
  const reason = `the connection ${JSON.stringify(name)} only reads`;
  const remedy = 'set "writes": true for it in the server\'s config';
  throw LorekeepError.about('UNSUPPORTED', { field: 'engine.connection', reason, remedy });
}

/**
 * Applies a batch whole, as one version, in one transaction; batches of several servers wait for each other. The statistics of words
 * stay exact. The batch has no id twice. @throws as Storage.update(); UNSUPPORTED unless the connection may write; EngineError
 */
export async function changeTables(
  base: ChangedTables,
  changes: StorageChanges,
  vectors: Float32Array,
  signal: AbortSignal | undefined,
): Promise<Changed> {
  const { client, facts, tables } = base;
  requireWrites(client);
  const records = [...(changes.add ?? []), ...(changes.replace ?? [])];
  const complete = await withDefaults(records, vectors, base);
  return client.transaction(
    async (run) => {
      const { version, next, documents, tokenizer } = await lockedBase(base, run);
      if (changes.ifVersion !== undefined && changes.ifVersion !== version) {
        const message = `ifVersion: the storage has version ${version}, not ${changes.ifVersion}`;
        throw new LorekeepError('VERSION_MISMATCH', message, { version });
      }
      await checkIds(
        { known: async (ids) => (await rowsOf(ids, tables, run)).map(({ id }) => id) },
        { changes },
        signal,
      );
      const removed = changes.remove ?? [];
      const old = await rowsOf([...records.map(({ id }) => id), ...removed], tables, run);
      if (records.length + removed.length === 0) return unchanged({ version, documents, time: facts.time });
      await removeRows(
        old.map(({ row }) => row),
        tables,
        run,
      );
      const rows = complete.map(({ id, text, metadata }, index): TableRow => {
        const embedding = vectors.subarray(index * facts.dimension, (index + 1) * facts.dimension);
        return { row: next + index, id, text, metadata, embedding };
      });
      const tokens = await fillTables(rows, { tables, fields: base.fields, tokenizer, counts: true }, run);
      const replaced = old.length - removed.length;
      const seen = await nextVersion(
        { tables, next: next + rows.length, added: rows.length - old.length, tokens },
        run,
      );
      const { documents: size } = seen;
      return {
        result: {
          version: seen.version,
          added: rows.length - replaced,
          replaced,
          removed: removed.length,
          size,
        },
        facts: seen,
      };
    },
    signal,
    longestChangeMs,
  );
}

/** A batch may have many records. */
const longestChangeMs = 600_000;

/**
 * Removes records, and has Postgres clear the places of their texts in the tables. What its own log and backups keep is said in
 * docs/guides/postgres.md. @throws RECORD_MISSING, DUPLICATE_ID; UNSUPPORTED, EngineError
 */
export async function forgetRecords(
  base: ChangedTables,
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Changed> {
  await checkDuplicates(ids);
  const changed = await changeTables(base, { remove: ids }, new Float32Array(0), signal);
  const { records, words, terms } = base.tables;
  // The statistics of columns have texts, too.
  await base.client.read(
    { text: `vacuum (analyze) ${records}, ${words}, ${terms}`, values: [] },
    signal,
    longestChangeMs,
  );
  return changed;
}

function unchanged({ version, documents, time }: Changed['facts']): Changed {
  const result = { version, added: 0, replaced: 0, removed: 0, size: documents };
  return { result, facts: { version, documents, time } };
}

interface LockedBase {
  readonly version: number;
  readonly next: number;
  readonly documents: number;
  readonly tokenizer: 'basic' | 'enhanced' | 'multilingual';
}

/** Reads the facts, and keeps other changes waiting. */
async function lockedBase({ tables, facts }: ChangedTables, run: Run): Promise<LockedBase> {
  const [row] = await run(
    `select version, next_row, documents, dimension, tokenizer, fingerprint, fields from ${tables.base} for update`,
  );
  if (row === undefined) throw absentFacts(tables);
  requireSame(row, facts);
  return {
    version: Number(row.version),
    next: Number(row.next_row),
    documents: Number(row.documents),
    tokenizer: row.tokenizer as LockedBase['tokenizer'],
  };
}

/** Ids of one statement. */
const idsAtOnce = 5000;

async function rowsOf(
  ids: readonly string[],
  { records }: TableNames,
  run: Run,
): Promise<{ id: string; row: number }[]> {
  const all: { id: string; row: number }[] = [];
  const possible = ids.filter(isStorable);
  for (let begin = 0; begin < possible.length; begin += idsAtOnce) {
    const statement = new Statement();
    const asked = statement.bind(JSON.stringify(possible.slice(begin, begin + idsAtOnce)), 'jsonb');
    const text = `select r.id, r.row from jsonb_array_elements_text(${asked}) a join ${records} r on r.id = a`;
    for (const { id, row } of await run(text, statement.values))
      all.push({ id: id as string, row: Number(row) });
  }
  return all;
}

/** Removes rows with their words, and takes them from the statistics. */
async function removeRows(rows: readonly number[], tables: TableNames, run: Run): Promise<void> {
  if (rows.length === 0) return;
  const statement = new Statement();
  const asked = `(select a::bigint as row from jsonb_array_elements_text(${statement.bind(JSON.stringify(rows), 'jsonb')}) a)`;
  const { values } = statement;
  await run(
    `with w as (delete from ${tables.words} w using ${asked} a where w.row = a.row returning w.term),
      n as (select term, count(*) as found from w group by term)
      update ${tables.terms} t set documents = t.documents - n.found from n where t.term = n.term`,
    values,
  );
  await run(`delete from ${tables.terms} where documents <= 0`);
  await run(
    `with r as (delete from ${tables.records} r using ${asked} a where r.row = a.row returning r.row, r.length),
      g as (insert into ${tables.gone} select row from r)
      update ${tables.base} set tokens = tokens - coalesce((select sum(length) from r), 0)`,
    values,
  );
}

async function nextVersion(
  { tables, next, added, tokens }: { tables: TableNames; next: number; added: number; tokens: number },
  run: Run,
): Promise<Changed['facts']> {
  const statement = new Statement();
  const text = `update ${tables.base} set version = version + 1, time = ${statement.bind(Date.now(), 'bigint')},
    next_row = ${statement.bind(next, 'bigint')}, documents = documents + ${statement.bind(added, 'bigint')},
    tokens = tokens + ${statement.bind(tokens, 'bigint')} returning version, time, documents`;
  const [row] = await run(text, statement.values);
  return { version: Number(row?.version), time: Number(row?.time), documents: Number(row?.documents) };
}

/** Records listed at a time. */
const listed = 10_000;

/** Returns records with the defaults of their fields and dates in one form, as the embedded engine has them. */
async function withDefaults(
  records: readonly StorageRecord[],
  vectors: Float32Array,
  { fields, facts }: ChangedTables,
): Promise<{ id: string; text: string; metadata?: Metadata | undefined }[]> {
  if (records.length === 0) return [];
  const storage = await Storage.build(records, vectors, facts.dimension, { fields, kind: 'flat' });
  try {
    const all: { id: string; text: string; metadata?: Metadata | undefined }[] = [];
    for (let offset = 0; offset < records.length; offset += listed)
      all.push(...(await storage.list({ offset, limit: listed })));
    return all;
  } finally {
    await storage.close();
  }
}
