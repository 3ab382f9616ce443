import { existsSync } from 'node:fs';
import type { StorageRecord } from '../../../lib/internal.js';
import { checkJsonShape } from '../../base/schema/json-shape.js';
import { JsonSyntaxError, JsonText } from '../../base/schema/json-text.js';
import { isRoundedInteger, parseWithWideIntegers } from '../../base/schema/wide-integers.js';
import { UsageError } from '../failure.js';
import { requireFile } from '../knowledge-base-file.js';
import { jsonObjectArgument, readUtf8 } from '../search/json-argument.js';

/** Longest file of records in bytes: a string of JavaScript has at most twice as many characters. */
const maxBytes = 256 * 1024 * 1024;

/** Flags of a record on the command line. */
export interface RecordFlags {
  id?: string;
  text?: string;
  metadata?: string;
}

/**
 * Returns the records of files, of stdin for "-", or the one of the flags. A file is a JSON array of records, one record, or one
 * record per line. @throws UsageError, CommandError
 */
export async function recordsInput(files: readonly string[], flags: RecordFlags): Promise<StorageRecord[]> {
  const own = flags.id !== undefined || flags.text !== undefined || flags.metadata !== undefined;
  if (own && files.length > 0)
    throw new UsageError('--id, --text and --metadata: they have no effect beside a file');
  if (own) return [await recordOf(flags)];
  if (files.length === 0)
    throw new UsageError('records are missing: name a JSON file, - for stdin, or --id and --text');
  const lists: StorageRecord[][] = [];
  for (const file of files) lists.push(await recordsOf(file));
  return lists.flat();
}

async function recordOf({ id, text, metadata: given }: RecordFlags): Promise<StorageRecord> {
  if (id === undefined || text === undefined) throw new UsageError('--id and --text: a record needs both');
  const metadata = await jsonObjectArgument('--metadata', given);
  return { id, text, ...(metadata !== undefined && { metadata: metadata as StorageRecord['metadata'] }) };
}

async function recordsOf(file: string): Promise<StorageRecord[]> {
  if (/^\s*[[{]/.test(file) && !existsSync(file))
    throw new UsageError('records as an argument: use --id and --text, or - and write them to stdin');
  if (file !== '-') await requireFile(file, 'a JSON file of records');
  const name = file === '-' ? 'stdin' : file;
  const text = await readUtf8(name, file === '-' ? process.stdin : file, maxBytes);
  const whole = parsed(text, name, 1);
  if (whole !== undefined)
    return (Array.isArray(whole.value) ? whole.value : [whole.value]) as StorageRecord[];
  if (/^\s*\[/.test(text)) throw syntaxError(text, name);
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const record = parsed(line, name, index + 1);
    if (record !== undefined) return [record.value as StorageRecord];
    throw new UsageError(
      `${name}:${index + 1}: JSON is expected: an array of records, or one record per line`,
    );
  });
}

/**
 * Parses JSON; integers beyond 2^53 become bigints, which keep them exact. Undefined if it is not JSON. The text begins at
 * `line` of the source. @throws UsageError for a duplicate key or too deep nesting
 */
function parsed(text: string, source: string, line: number): { value: unknown } | undefined {
  let value: unknown;
  try {
    value = parseWithWideIntegers(text, isRoundedInteger);
  } catch {
    return undefined;
  }
  const problem = checkJsonShape(text);
  if (problem === undefined) return { value };
  const { position, what } = problem;
  const place = position && `:${line + position.line - 1}:${position.column}`;
  throw new UsageError(`${source}${place ?? ''}: ${what}`);
}

function syntaxError(text: string, source: string): UsageError {
  try {
    new JsonText(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { line, column } = error.position;
    return new UsageError(`${source}:${line}:${column}: not valid JSON: ${error.message}`);
  }
  return new UsageError(`${source}: not valid JSON`);
}
