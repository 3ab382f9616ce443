import type { FileHandle } from 'node:fs/promises';
import { UnreadableDocument } from '../document.js';
import { CsvReader, type CsvRow } from './csv-rows.js';
import { linesOf } from './lines.js';
import type { Row } from './mapping.js';

/** The rows of a CSV file; its first row names the columns. @throws UnreadableDocument */
export async function* csvRows(file: FileHandle, separator: string): AsyncGenerator<Row> {
  const reader = new CsvReader(separator);
  let names: readonly string[] | undefined;
  for await (const { line, cells } of allRows(reader, file)) {
    if (names === undefined) names = columnNames(cells);
    else if (cells.length > names.length) yield { line, problem: cellsProblem(names, cells) };
    else yield { line, values: Object.fromEntries(cells.map((cell, at) => [names?.[at] as string, cell])) };
  }
}

async function* allRows(reader: CsvReader, file: FileHandle): AsyncGenerator<CsvRow> {
  for await (const piece of textOf(file)) yield* reader.push(piece);
  yield* reader.end();
}

function columnNames(cells: readonly string[]): string[] {
  const names = cells.map((cell) => cell.trim());
  const twice = names.find((name, at) => name !== '' && names.indexOf(name) < at);
  if (twice !== undefined) throw new UnreadableDocument(`two columns are named ${JSON.stringify(twice)}`);
  return names.map((name, at) => name || `column ${at + 1}`);
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
    value = JSON.parse(text);
  } catch (error) {
    return { line, problem: `is not valid JSON: ${(error as Error).message}` };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { line, values: value as Record<string, unknown> };
  return { line, problem: 'is not a JSON object' };
}

/** @throws UnreadableDocument for binary content and other encodings than UTF-8 */
async function* textOf(file: FileHandle): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Buffer) => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (cause) {
      throw new UnreadableDocument('is not UTF-8 text; convert it, for example with iconv', { cause });
    }
  };
  try {
    for await (const piece of file.createReadStream({ autoClose: false, start: 0 })) {
      if ((piece as Buffer).includes(0)) throw new UnreadableDocument('is a binary file, not text');
      yield decode(piece as Buffer);
    }
  } catch (cause) {
    if (cause instanceof UnreadableDocument) throw cause;
    throw new UnreadableDocument(`cannot be read: ${(cause as Error).message}`, { cause });
  }
  yield decode();
}
