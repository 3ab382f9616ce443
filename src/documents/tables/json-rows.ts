import type { FileHandle } from 'node:fs/promises';
import { parseExactly, parseLoosely } from './exact-json.js';
import { textOfValue } from './flat-text.js';
import { JsonValues } from './json-values.js';
import { type Line, linesOf } from './lines.js';
import type { Row } from './mapping.js';
import { textOf } from './rows.js';

/**
 * The values of a file of JSON Lines; the members of objects are columns. Blank lines are skipped. Values that take several lines,
 * and those of one list, are read, too. @throws UnreadableDocument
 */
export async function* jsonLines(file: FileHandle): AsyncGenerator<Row> {
  let values: JsonValues | undefined;
  let isDecided = false;
  const first: Line[] = [];
  for await (const { number, text } of linesOf(textOf(file))) {
    // Files that were joined have a byte order mark before each of them.
    const line = { number, text: text?.replace(/^\uFEFF/, '') };
    if (line.text?.trim() === '') continue;
    if (isDecided) yield* rowsOf(line, values);
    else if (first.push(line) === 2) {
      isDecided = true;
      values = hasLongValues(first) ? new JsonValues() : undefined;
      for (const each of first) yield* rowsOf(each, values);
    }
  }
  if (!isDecided) {
    values = hasLongValues(first) ? new JsonValues() : undefined;
    for (const each of first) yield* rowsOf(each, values);
  }
  const open = values?.end();
  if (open !== undefined) yield { line: open, problem: 'is not valid JSON: it has no end' };
}

function* rowsOf({ number: line, text }: Line, values: JsonValues | undefined): Generator<Row> {
  if (text === undefined) yield { line, problem: 'is too long' };
  else if (values === undefined) yield jsonRow(line, text);
  else for (const value of values.push(line, text)) yield jsonRow(value.line, value.text);
}

/** Whether values take several lines, or are members of one list, by the first two lines of a file. */
function hasLongValues([first, second]: readonly Line[]): boolean {
  const begin = first?.text?.trim() ?? '';
  if (!/^[[{]/.test(begin) || isJson(begin)) return begin.startsWith('[{') && second === undefined;
  return begin.startsWith('[') || (second?.text !== undefined && !isJson(second.text));
}

function isJson(text: string): boolean {
  try {
    return parseLoosely(text) !== undefined;
  } catch {
    return true; // nested too deeply
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
  if (value === null) return { line, problem: 'is not a JSON object' };
  return { line, values: { text: textOfValue(value) } };
}
