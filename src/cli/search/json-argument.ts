import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { unreadable } from '../../../lib/basics.js';
import { checkJsonShape } from '../../base/schema/json-shape.js';
import { parseWithWideIntegers } from '../../base/schema/wide-integers.js';
import { UsageError } from '../failure.js';

/** Longest file that a flag may name, in bytes. */
const maxBytes = 16 * 1024 * 1024;

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
  return readUtf8(`${flag}: ${file}`, file, maxBytes);
}

/** The value in the file that a flag names. @throws UsageError */
export async function jsonFile(flag: string, file: string): Promise<unknown> {
  if (file === '') throw new UsageError(`${flag}: the name of the file is empty`);
  const source = `${flag}: ${file}`;
  return parse(await readUtf8(source, file, maxBytes), source, '');
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

function parse(given: string, source: string, advice: string): unknown {
  const text = given.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = parseWithWideIntegers(text);
  } catch (error) {
    throw new UsageError(`${source}: not valid JSON: ${(error as Error).message}${advice}`);
  }
  const problem = checkJsonShape(text);
  if (problem !== undefined) throw new UsageError(`${source}${problem.place}: ${problem.what}`);
  return value;
}

/** The text of a file or of stdin, without a byte order mark. A pipe is read to its end, so that a shell's <(...) works. @throws UsageError */
export async function readUtf8(source: string, from: string | Readable, maxBytes: number): Promise<string> {
  const stream = typeof from === 'string' ? createReadStream(from) : from;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new UsageError(`${source}: ${unreadable(source, error).detail.reason}`);
  }
  if (length > maxBytes) throw new UsageError(`${source}: is longer than ${maxBytes} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new UsageError(`${source}: is not UTF-8`);
  }
}
