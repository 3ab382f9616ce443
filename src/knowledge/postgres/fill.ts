import type { FieldDefinition, Metadata, Tokenizer } from '../../../lib/internal.js';
import { LorekeepError } from '../../../lib/internal.js';
import { vectorText } from './background.js';
import type { Run } from './client.js';
import { metadataJson, requireText } from './metadata.js';
import { Statement } from './statement.js';
import type { TableNames } from './tables.js';
import { documentTerms } from './terms.js';

/** A record as a table holds it. */
export interface TableRow {
  readonly row: number;
  readonly id: string;
  readonly text: string;
  readonly metadata?: Metadata | undefined;
  readonly embedding: Float32Array;
}

/** Longest id in bytes: an index of Postgres holds no longer text. */
const longestId = 2000;
/** Records of one statement, and rows of words. */
const recordsAtOnce = 500;
const wordsAtOnce = 20_000;

/**
 * Inserts records with their words. `counts`: also adds them to the numbers of records with each term. Returns the number of their
 * words. @throws INVALID_ARGUMENT for an id or a text that Postgres does not store
 */
export async function fillTables(
  rows: readonly TableRow[],
  {
    tables,
    fields,
    tokenizer,
    counts,
  }: {
    tables: TableNames;
    fields: readonly FieldDefinition[] | undefined;
    tokenizer: Tokenizer;
    counts: boolean;
  },
  run: Run,
): Promise<number> {
  let tokens = 0;
  for (let begin = 0; begin < rows.length; begin += recordsAtOnce) {
    const some = rows.slice(begin, begin + recordsAtOnce);
    const found = some.map(({ id, text }) => {
      checkId(id);
      requireText(text, `text of the record ${JSON.stringify(id.slice(0, 128))}`);
      return documentTerms(text, tokenizer);
    });
    const records = some.map(({ row, id, text, metadata, embedding }, index) => {
      const length = found[index]?.length ?? 0;
      const own = { row, id, text, length, embedding: vectorText(embedding) };
      return `{"metadata":${metadataJson(metadata, fields, id)},${JSON.stringify(own).slice(1)}`;
    });
    await insert(
      `insert into ${tables.records} (row, id, text, metadata, length, embedding) select row, id, text, metadata, length, embedding::vector from jsonb_to_recordset($) as x(row bigint, id text, text text, metadata jsonb, length int, embedding text)`,
      records,
      run,
    );
    const words = some.flatMap(({ row }, index) => {
      const { length, frequencies } = found[index] as (typeof found)[number];
      return Array.from(frequencies, ([term, frequency]) => JSON.stringify({ term, row, frequency, length }));
    });
    for (let at = 0; at < words.length; at += wordsAtOnce)
      await insert(wordsText(tables, counts), words.slice(at, at + wordsAtOnce), run);
    tokens += found.reduce((sum, { length }) => sum + length, 0);
  }
  return tokens;
}

const wordsText = ({ words, terms }: TableNames, counts: boolean) => {
  const inserted = `insert into ${words} (term, row, frequency, length) select term, row, frequency, length from jsonb_to_recordset($) as x(term text, row bigint, frequency int, length int)`;
  if (!counts) return inserted;
  return `with w as (${inserted} returning term) insert into ${terms} as t (term, documents) select term, count(*) from w group by term
    on conflict (term) do update set documents = t.documents + excluded.documents`;
};

/** `text`: with $ in the place of a JSON array. */
async function insert(text: string, objects: readonly string[], run: Run): Promise<void> {
  if (objects.length === 0) return;
  const statement = new Statement();
  const place = statement.bind(`[${objects.join(',')}]`, 'jsonb');
  await run(
    text.replace('$', () => place),
    statement.values,
  );
}

function checkId(id: string): void {
  requireText(id, `the id ${JSON.stringify(id.slice(0, 128))}`);
  if (Buffer.byteLength(id) <= longestId) return;
  const field = `the id ${JSON.stringify(`${id.slice(0, 64)}…`)}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field, reason: `has more than ${longestId} bytes` });
}
