import type { FileHandle } from 'node:fs/promises';
import { UnreadableDocument } from '../document.js';
import { encodingOfPieces, pieceDecoder } from '../files/encoding.js';
import { CsvReader, type CsvRow } from './csv-rows.js';
import type { Row } from './mapping.js';

/**
 * The rows of a CSV file; its first row names the columns. Lines of one cell above it are texts. Without a `separator` it is the
 * character that the first row has most of. @throws UnreadableDocument
 */
export async function* csvRows(file: FileHandle, separator?: string): AsyncGenerator<Row> {
  let names: readonly string[] | undefined;
  const first: CsvRow[] = [];
  try {
    for await (const row of allRows(file, separator)) {
      if (row.cells.every((cell) => cell.trim() === '')) continue;
      if (names !== undefined) yield* rowOf(names, row);
      else if (first.push(row) === firstRows) {
        names = yield* head(first);
      }
    }
  } catch (error) {
    if (names === undefined) yield* head(first);
    throw error;
  }
  if (names === undefined) yield* head(first);
}

/** Rows that are looked at to find the one that names the columns. */
const firstRows = 8;

/** Yields the rows above and below the one that names the columns, which is returned. */
function* head(rows: readonly CsvRow[]): Generator<Row, readonly string[]> {
  const at = headIndex(rows);
  for (const { line, cells } of rows.slice(0, at)) yield { line, values: { text: cells.join(' ').trim() } };
  const [first, second] = rows.slice(at);
  const isRow = isDataRow(first?.cells ?? [], second?.cells);
  const names = columnNames((first?.cells ?? []).map((cell) => (isRow ? '' : cell)));
  for (const row of rows.slice(isRow ? at : at + 1)) yield* rowOf(names, row);
  return names;
}

/** Whether a first row has values as the second one does, and one that names no column: a date, or a number that is no year. */
function isDataRow(first: readonly string[], second: readonly string[] | undefined): boolean {
  if (second === undefined || first.length !== second.length) return false;
  const kinds = first.map(kindOf);
  const isValue = (cell: string, at: number) => kinds[at] !== 'text' && !year.test(cell.trim());
  return kinds.every((kind, at) => kind === kindOf(second[at] as string)) && first.some(isValue);
}

const year = /^[12]\d{3}$/;

function kindOf(cell: string): 'date' | 'number' | 'text' {
  const text = cell.trim().slice(0, 40);
  if (/^\d{4}-\d\d-\d\d(?:[T ].*)?$|^\d{1,2}[./]\d{1,2}[./]\d{2,4}$/.test(text)) return 'date';
  return /^[-+]?(?:\d+|\d{1,3}(?:[.,]\d{3})+)(?:[.,]\d+)?%?$/.test(text) ? 'number' : 'text';
}

/** Programs write a title or remarks above a table: lines of one cell. Two rows of as many cells, several, begin the table. */
function headIndex(rows: readonly CsvRow[]): number {
  const filled = ({ cells }: CsvRow) => cells.filter((cell) => cell.trim() !== '').length;
  const at = rows.findIndex((row) => filled(row) > 1);
  const [head, next] = rows.slice(Math.max(0, at));
  if (head === undefined || next === undefined || filled(head) < head.cells.length) return 0;
  return head.cells.length === next.cells.length ? Math.max(0, at) : 0;
}

async function* allRows(file: FileHandle, separator: string | undefined): AsyncGenerator<CsvRow> {
  let reader: CsvReader | undefined;
  for await (const piece of textOf(file)) {
    // Excel reads and writes a line before the table that names the separator.
    const named = reader === undefined ? /^sep=(.)(?=\r?\n)/i.exec(piece) : undefined;
    reader ??= new CsvReader(separator ?? named?.[1] ?? separatorOf(piece));
    yield* reader.push(piece.slice(named?.[0].length ?? 0));
  }
  if (reader !== undefined) yield* reader.end();
}

/** In many countries, spreadsheets write semicolons. */
const separators = [',', ';', '\t', '|'] as const;

/** The separator that the first row with one has most of outside quotes; the comma if none of the first rows has one. */
function separatorOf(text: string): string {
  const begin = /^[\r\n]*/.exec(text)?.[0].length ?? 0;
  const counts = new Map<string, number>();
  let quoted = false;
  let ends = 0;
  for (let at = begin; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '\n' || character === '\r') {
      if (separators.some((separator) => counts.has(separator)) || ++ends === firstRows) break;
    } else counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const count = (separator: string) => counts.get(separator) ?? 0;
  return separators.reduce((best: string, one) => (count(one) > count(best) ? one : best), ',');
}

function columnNames(cells: readonly string[]): string[] {
  const taken = new Set<string>();
  return cells.map((cell, at) => {
    const name = cell.trim() || `column ${at + 1}`;
    // The second column of a name has its number in the table.
    const unique = taken.has(name) ? `${name} (column ${at + 1})` : name;
    taken.add(unique);
    return unique;
  });
}

/** A row with its columns. Cells beyond the last one are empty. */
function* rowOf(names: readonly string[], { line, cells, isOpen }: CsvRow): Generator<Row> {
  const known = cells.slice(0, names.length);
  if (cells.slice(names.length).some((cell) => cell.trim() !== ''))
    yield { line, problem: cellsProblem(names, cells) };
  else yield { line, values: Object.fromEntries(known.map((cell, at) => [names[at] as string, cell])) };
  if (isOpen === true)
    yield { line, problem: 'a quote is not closed; it and the text after it are read as they are' };
}

const cellsProblem = (names: readonly string[], cells: readonly string[]) =>
  `the row has ${cells.length} cells, the first row ${names.length}`;

/** Decodes a text: UTF-8, UTF-16, or another encoding that is told by its letters. @throws UnreadableDocument for binary content */
export async function* textOf(file: FileHandle): AsyncGenerator<string> {
  try {
    const decode = pieceDecoder(await encodingOfPieces(piecesOf(file)));
    for await (const piece of piecesOf(file)) yield decode(piece);
    yield decode();
  } catch (cause) {
    if (cause instanceof UnreadableDocument) throw cause;
    throw new UnreadableDocument(`cannot be read: ${(cause as Error).message}`, { cause });
  }
}

const pieceBytes = 64 * 1024;

/** Reads a file from its beginning. */
async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
