import type { Section } from '../document.js';

/** Types of mapped columns: the types of a knowledge base's fields. */
export const columnTypes = ['string', 'int', 'float', 'bool', 'set<string>'] as const;
export type ColumnType = (typeof columnTypes)[number];

/** The roles of the columns of a table, or of the keys of JSON Lines. */
export interface TableMapping {
  /** The text to search; several are joined. Default: the column "text", else all columns that have no other use. */
  text?: string | readonly string[] | undefined;
  /** Default: the column "title", else "name". */
  title?: string | undefined;
  /** Names the row within its file. Default: the column "id", else the number of its line. */
  id?: string | undefined;
  /** Columns that filters may name, with their types. */
  fields?: Readonly<Record<string, ColumnType>> | undefined;
}

/** A row with its columns, or why it cannot be read. */
export type Row =
  | { line: number; values: Readonly<Record<string, unknown>> }
  | { line: number; problem: string };

/** Problems of rows that are kept for the report. */
const maxProblems = 100;

/** Makes sections of rows. Rows that cannot be used are added to `problems`. */
export async function* rowSections(
  rows: AsyncIterable<Row>,
  mapping: TableMapping,
  problems: string[],
): AsyncGenerator<Section> {
  const taken = new Set<string>();
  let left = 0;
  const refuse = (line: number, problem: string) => {
    if (problems.length < maxProblems) problems.push(`line ${line}: ${problem}`);
    else left++;
  };
  for await (const row of rows) {
    const section = 'problem' in row ? row.problem : sectionOf(row.line, row.values, mapping);
    if (typeof section === 'string') refuse(row.line, section);
    else if (taken.has(section.anchor)) refuse(row.line, `the id ${JSON.stringify(section.anchor)} is taken`);
    else {
      taken.add(section.anchor);
      yield section;
    }
  }
  if (left > 0) problems.push(`and ${left} more rows`);
}

function sectionOf(
  line: number,
  values: Readonly<Record<string, unknown>>,
  mapping: TableMapping,
): Section | string {
  const named = (given: string | undefined, usual: readonly string[]) =>
    given ?? usual.find((name) => shown(values[name]) !== '');
  const title = named(mapping.title, ['title', 'name']);
  const id = named(mapping.id, ['id']);
  const text = textOf(values, mapping, [title, id]);
  if (text.trim() === '') return `${textColumns(mapping)} is empty`;
  const metadata: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(mapping.fields ?? {})) {
    const value = converted(values[name], type);
    if (value instanceof Error) return `${name}: ${value.message}`;
    if (value !== undefined) metadata[name] = value;
  }
  const heading = title === undefined ? '' : shown(values[title]);
  const anchor = id === undefined ? '' : shown(values[id]).slice(0, 200);
  return {
    headings: [],
    anchor: anchor || `line=${line}`,
    ...(heading !== '' && { title: heading.slice(0, 200) }),
    metadata,
    blocks: [{ kind: 'prose', text }],
  };
}

function textColumns({ text }: TableMapping): string {
  return text === undefined ? 'the row' : [text].flat().join(', ');
}

function textOf(
  values: Readonly<Record<string, unknown>>,
  { text, fields = {} }: TableMapping,
  used: readonly (string | undefined)[],
): string {
  if (text !== undefined) {
    const columns = typeof text === 'string' ? [text] : text;
    return columns
      .map((name) => shown(values[name]))
      .filter((value) => value !== '')
      .join('\n\n');
  }
  if (shown(values.text) !== '') return shown(values.text);
  return Object.entries(values)
    .filter(([name, value]) => shown(value) !== '' && !used.includes(name) && !Object.hasOwn(fields, name))
    .map(([name, value]) => `${name}: ${shown(value)}`)
    .join('\n');
}

/** Returns a text, number or boolean, or a list of them, as a text; "" for other values. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return '';
  return value
    .filter((item) => !Array.isArray(item))
    .map(shown)
    .filter((item) => item !== '')
    .join(', ');
}

const truths = new Map([
  ...['true', 'yes', '1'].map((text) => [text, true] as const),
  ...['false', 'no', '0'].map((text) => [text, false] as const),
]);

/** Returns the value of a field, undefined for an empty cell, or an Error with the expected form. */
function converted(value: unknown, type: ColumnType): unknown {
  if (value === undefined || value === null || value === '') return undefined;
  const expected = (what: string) =>
    new Error(`${what} is expected, found ${JSON.stringify(value).slice(0, 80)}`);
  if (type === 'string') return shown(value) || undefined;
  if (type === 'set<string>') {
    if (Array.isArray(value)) return value.map(shown).filter((item) => item !== '');
    return shown(value)
      .split(/[,;]/)
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }
  if (type === 'bool') return truths.get(shown(value).toLowerCase()) ?? expected('true or false');
  const number = typeof value === 'number' ? value : Number(shown(value) || 'none');
  if (type === 'int') return Number.isSafeInteger(number) ? number : expected('an integer');
  return Number.isFinite(number) ? number : expected('a number');
}
