import { createHash } from 'node:crypto';
import type { Section } from '../document.js';
import { scalarText, textOfValue } from './flat-text.js';

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
    else {
      // Rows with one id stay apart.
      const anchor = taken.has(section.anchor) ? `${section.anchor}~line=${row.line}` : section.anchor;
      taken.add(anchor);
      yield anchor === section.anchor ? section : { ...section, anchor };
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
  const heading = title === undefined ? '' : shown(values[title]).replace(/\s+/g, ' ');
  const anchor = id === undefined ? '' : shortened(shown(values[id]));
  return {
    headings: [],
    anchor: anchor || `line=${line}`,
    ...(heading !== '' && { title: heading.slice(0, 200) }),
    metadata,
    blocks: [{ kind: 'prose', text }],
  };
}

/** Longest id of a row. */
const longestId = 200;

/** Returns an id of at most longestId characters. Different ids stay different. */
function shortened(id: string): string {
  if (id.length <= longestId) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${id.slice(0, longestId - digest.length - 1)}~${digest}`;
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
      .map((name) => textOfValue(values[name]))
      .filter((value) => value !== '')
      .join('\n\n');
  }
  const own = textOfValue(values.text);
  if (own !== '') return own;
  const others = Object.fromEntries(
    Object.entries(values).filter(([name]) => !used.includes(name) && !Object.hasOwn(fields, name)),
  );
  // A row of which every column has another use is found by its title.
  return textOfValue(others) || shown(values[used.find((name) => name !== undefined) ?? '']);
}

/** Returns a value as one line of text: a scalar, or a list of them; "" for other values. */
function shown(value: unknown): string {
  if (!Array.isArray(value)) return scalarText(value);
  return value
    .map(scalarText)
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
  if (type === 'int') return integerOf(value) ?? expected('an integer of 64 bits');
  const number = typeof value === 'number' ? value : Number(shown(value) || 'none');
  return Number.isFinite(number) ? number : expected('a number');
}

const largest = 2n ** 63n;

/** Returns an integer of 64 bits exactly: a BigInt beyond 2^53. */
function integerOf(value: unknown): number | bigint | undefined {
  const text = shown(value);
  if (/^[+-]?\d{1,20}$/.test(text)) {
    const exact = BigInt(text.replace(/^\+/, ''));
    if (exact < -largest || exact >= largest) return undefined;
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  }
  const number = Number(text || 'none');
  return Number.isSafeInteger(number) ? number : undefined;
}
