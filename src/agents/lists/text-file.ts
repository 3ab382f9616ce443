import type { FileHandle } from 'node:fs/promises';
import { fail } from '../../protocol/errors.js';
import type { StorageRoot } from '../../storages/storage-root.js';

/** Largest text file of responses or patterns, in bytes. */
const maxListBytes = 1024 * 1024;

/** A line that is neither blank nor a comment. */
export interface TextLine {
  readonly text: string;
  /** Line number, from 1. */
  readonly line: number;
}

/** Where a text file was named, and its name in messages. */
export interface TextSource {
  readonly file: string;
  /** The param in the graph that needs it. */
  readonly where: string;
}

/** Reads a text file inside a storage root. @throws StorageOutsideRoot, StorageFileNotFound, InvalidStringStorage */
export function readInside(root: StorageRoot, source: TextSource): Promise<Buffer> {
  return root.read(source.file, source.where, maxListBytes, () => refuseSize(source));
}

/** Reads an open file. @throws InvalidStringStorage if it is too large */
export async function readOpen(file: FileHandle, source: TextSource): Promise<Buffer> {
  const { size } = await file.stat();
  return size > maxListBytes ? refuseSize(source) : file.readFile();
}

/** Returns the lines of UTF-8 text without trailing blanks, except blank ones and comments (`#`). @throws InvalidStringStorage */
export function parseLines(bytes: Buffer, source: TextSource): TextLine[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return refuseFile(source, 'not valid UTF-8');
  }
  const lines = text
    .split('\n')
    .map((line, index) => ({ text: line.trimEnd(), line: index + 1 }))
    .filter((line) => line.text.trim() !== '' && !line.text.startsWith('#'))
    .map(({ text, line }) => ({ text: ownCopy(text), line }));
  if (lines.length === 0) refuseFile(source, 'every line is blank or a comment');
  return lines;
}

/** Copies a text, because a substring keeps the whole text alive. */
function ownCopy(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

export function refuseFile(source: TextSource, problem: string, facts: object = {}): never {
  const { file, where } = source;
  fail(4010, `${where}: ${shown(file)}: ${problem}`, { path: where, file, ...facts });
}

function refuseSize(source: TextSource): never {
  refuseFile(source, `larger than ${maxListBytes} bytes`, { limit: maxListBytes });
}

function shown(file: string): string {
  return JSON.stringify(file.slice(0, 256));
}
