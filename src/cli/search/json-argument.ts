import { readFile } from 'node:fs/promises';
import { UsageError } from '../failure.js';

/** The value of a flag that is JSON itself or names a file of JSON with `@FILE`. @throws UsageError */
export async function jsonArgument(flag: string, given: string | undefined): Promise<unknown> {
  if (given === undefined) return undefined;
  const file = given.startsWith('@') ? given.slice(1) : undefined;
  const source = file === undefined ? flag : `${flag}: ${file}`;
  const text = file === undefined ? given : await read(source, file);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    const quotes = file === undefined ? '; put single quotes around it, or write @FILE' : '';
    throw new UsageError(`${source}: not valid JSON: ${(error as Error).message}${quotes}`);
  }
}

/** The same for a value that must be an object of names and values. @throws UsageError */
export async function jsonObjectArgument(
  flag: string,
  given: string | undefined,
): Promise<Record<string, unknown> | undefined> {
  const value = await jsonArgument(flag, given);
  if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))) {
    return value as Record<string, unknown> | undefined;
  }
  throw new UsageError(`${flag}: an object of names and values is expected, such as {"day": 3}`);
}

async function read(source: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${source}: ${code === 'ENOENT' ? 'the file does not exist' : message}`);
  }
}
