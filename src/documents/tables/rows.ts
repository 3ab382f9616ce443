import type { FileHandle } from 'node:fs/promises';
import { UnreadableDocument } from '../document.js';
import { encodingOfPieces, pieceDecoder } from '../files/encoding.js';
import { CsvReader, type CsvRow } from './csv-rows.js';
import { parseExactly, parseLoosely } from './exact-json.js';
import { linesOf } from './lines.js';
import type { Row } from './mapping.js';

/**
 * The rows of a CSV file; its first row names the columns. Without a `separator` it is the character that the first row has most
 * of. @throws UnreadableDocument
 */
export async function* csvRows(file: FileHandle, separator?: string): AsyncGenerator<Row> {
  let names: readonly string[] | undefined;
  for await (const { line, cells } of allRows(file, separator)) {
    if (names === undefined) names = columnNames(cells);
    else if (cells.slice(names.length).some((cell) => cell.trim() !== ''))
      yield { line, problem: cellsProblem(names, cells) };
    else yield { line, values: rowOf(names, cells) };
  }
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
const separators = [',', ';', '\t'] as const;

/** The separator that the first row has most of outside quotes; the comma if it has none. */
function separatorOf(text: string): string {
  const begin = /^[\r\n]*/.exec(text)?.[0].length ?? 0;
  const counts = new Map<string, number>();
  let quoted = false;
  for (let at = begin; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '\n' || character === '\r') break;
    else counts.set(character, (counts.get(character) ?? 0) + 1);
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

/** Cells beyond the last column are empty. */
function rowOf(names: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const known = cells.slice(0, names.length);
  return Object.fromEntries(known.map((cell, at) => [names[at] as string, cell]));
}

const cellsProblem = (names: readonly string[], cells: readonly string[]) =>
  `the row has ${cells.length} cells, the first row ${names.length}`;

/** The objects of a file of JSON Lines. Blank lines are skipped. @throws UnreadableDocument */
export async function* jsonLines(file: FileHandle): AsyncGenerator<Row> {
  for await (const { number: line, text } of linesOf(textOf(file))) {
    if (text === undefined) yield { line, problem: 'is too long' };
    else if (text.trim() !== '') yield jsonRow(line, text);
  }
}

function jsonRow(line: number, text: string): Row {
  let value: unknown;
  try {
    value = parseLoosely(text) ?? parseExactly(text);
  } catch (error) {
    if (error instanceof RangeError) return { line, problem: 'is nested too deeply' };
    return { line, problem: `is not valid JSON: ${(error as Error).message}` };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { line, values: value as Record<string, unknown> };
  return { line, problem: 'is not a JSON object' };
}

/** Decodes a text: UTF-8, UTF-16, or another encoding that is told by its letters. @throws UnreadableDocument for binary content */
async function* textOf(file: FileHandle): AsyncGenerator<string> {
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
