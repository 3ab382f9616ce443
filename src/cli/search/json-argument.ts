import { readFile } from 'node:fs/promises';
import { parseWithWideIntegers } from '../../schema/wide-integers.js';
import { UsageError } from '../failure.js';

/** The value of a flag that is JSON, or `@FILE` for a file of JSON. @throws UsageError */
export async function jsonArgument(flag: string, given: string | undefined): Promise<unknown> {
  if (given === undefined) return undefined;
  if (given.startsWith('@')) return jsonFile(flag, given.slice(1));
  return parse(given, flag, '; put single quotes around it, or write @FILE');
}

/** The value of a flag that is a text, or `@FILE` for a file of text. @throws UsageError */
export async function textArgument(flag: string, given: string): Promise<string> {
  if (!given.startsWith('@')) return given;
  const file = given.slice(1);
  if (file === '') throw new UsageError(`${flag}: the name of the file is empty`);
  return read(`${flag}: ${file}`, file);
}

/** The value in the file that a flag names. @throws UsageError */
export async function jsonFile(flag: string, file: string): Promise<unknown> {
  if (file === '') throw new UsageError(`${flag}: the name of the file is empty`);
  const source = `${flag}: ${file}`;
  return parse(await read(source, file), source, '');
}

/** The same for a value that must be an object. @throws UsageError */
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

function parse(text: string, source: string, advice: string): unknown {
  try {
    return parseWithWideIntegers(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UsageError(`${source}: not valid JSON: ${(error as Error).message}${advice}`);
  }
}

async function read(source: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${source}: ${reasons.get(code) ?? message}`);
  }
}

const reasons: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOENT', 'the file does not exist'],
  ['EISDIR', 'is a folder; a file is expected'],
]);
