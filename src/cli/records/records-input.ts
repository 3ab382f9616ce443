import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import type { StorageRecord } from '../../../lib/internal.js';
import { isRoundedInteger, parseWithWideIntegers } from '../../base/schema/wide-integers.js';
import { UsageError } from '../failure.js';
import { requireFile } from '../knowledge-base-file.js';
import { jsonObjectArgument } from '../search/json-argument.js';

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
  const content = file === '-' ? await readStream(process.stdin) : await readFile(file, 'utf8');
  const name = file === '-' ? 'stdin' : file;
  const text = content.replace(/^\uFEFF/, '');
  const whole = parsed(text);
  if (whole !== undefined)
    return (Array.isArray(whole.value) ? whole.value : [whole.value]) as StorageRecord[];
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const record = parsed(line);
    if (record !== undefined) return [record.value as StorageRecord];
    throw new UsageError(
      `${name}:${index + 1}: JSON is expected: an array of records, or one record per line`,
    );
  });
}

/** Parses JSON; integers beyond 2^53 become bigints, which keep them exact. Undefined if it is not JSON. */
function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: parseWithWideIntegers(text, isRoundedInteger) };
  } catch {
    return undefined;
  }
}
