import { type FieldDefinition, LorekeepError } from '../../../lib/internal.js';
import type { PostgresClient, Row } from './client.js';
import { type BaseFacts, marker, type TableNames, tablesFormat } from './tables.js';

/** Reads the facts of a knowledge base from its row. @throws INVALID_ARGUMENT without the marker, UNSUPPORTED for another format */
export function baseFacts(
  row: Row | undefined,
  { tables, connection }: { tables: TableNames; connection: string },
): BaseFacts {
  const { schema, name } = tables;
  const about = `the connection ${JSON.stringify(connection)}: the table ${JSON.stringify(`${schema}.${name}`)}`;
  if (row?.marker !== marker) {
    const reason = `${about} is not one of lorekeep`;
    throw LorekeepError.about('INVALID_ARGUMENT', {
      field: 'engine.table',
      reason,
      remedy: 'give another table',
    });
  }
  if (Number(row.format) !== tablesFormat) {
    const reason = `${about} has format ${Number(row.format)}; this version reads ${tablesFormat}`;
    throw LorekeepError.about('UNSUPPORTED', {
      field: 'engine.table',
      reason,
      remedy: 'push the knowledge base again',
    });
  }
  return {
    marker,
    format: tablesFormat,
    build: String(row.build),
    version: Number(row.version),
    time: Number(row.time),
    documents: Number(row.documents),
    dimension: Number(row.dimension),
    model: String(row.model),
    fingerprint: String(row.fingerprint),
    tokenizer: String(row.tokenizer),
    fields: (row.fields as FieldDefinition[] | null) ?? undefined,
    hnsw: row.hnsw === true,
  };
}

/** The error of a table without its row of facts. */
export const absentFacts = ({ schema, name }: TableNames): LorekeepError =>
  LorekeepError.about('UNSUPPORTED', {
    field: 'engine.table',
    reason: `the table ${JSON.stringify(`${schema}.${name}`)} has lost its facts`,
    remedy: 'push the knowledge base again',
  });

/** @throws UNSUPPORTED for tables that were pushed again from another knowledge base than the one that was opened */
export function requireSame(row: Row, opened: BaseFacts): void {
  const isSame =
    Number(row.dimension) === opened.dimension &&
    row.tokenizer === opened.tokenizer &&
    row.fingerprint === opened.fingerprint &&
    JSON.stringify(row.fields ?? null) === JSON.stringify(opened.fields ?? null);
  if (isSame) return;
  const reason =
    'the tables were pushed again, with another model, tokenizer or fields; open the knowledge base again';
  throw LorekeepError.about('UNSUPPORTED', { field: 'engine.table', reason });
}

export async function readFacts(
  client: PostgresClient,
  tables: TableNames,
  signal?: AbortSignal | undefined,
): Promise<BaseFacts> {
  const [row] = await client.read({ text: `select * from ${tables.base}`, values: [] }, signal);
  return baseFacts(row, { tables, connection: client.name });
}
