import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { LorekeepError, systemReason } from '../../../lib/basics.js';

/** Largest config file in bytes. A larger file is not a config. */
export const largestConfigBytes = 4 * 1024 * 1024;

/** Opening a pipe without a writer would block a thread for ever. Windows has neither the flag nor such pipes. */
const readOnly = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The text of a file that people write: a config, a catalog. `what`: its kind, for errors. @throws LorekeepError: NOT_FOUND, IO, CORRUPT (not UTF-8, too long) */
export async function readText(
  path: string,
  maxBytes = largestConfigBytes,
  what = 'config file',
): Promise<string> {
  const bytes = await readBytes(path, maxBytes);
  if (bytes.length > maxBytes) {
    const reason = `is longer than ${maxBytes} bytes, so it is no ${what}`;
    throw LorekeepError.about('CORRUPT', { file: path, reason });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw LorekeepError.about('CORRUPT', { file: path, reason: 'is not UTF-8' }, { cause });
  }
}

async function readBytes(path: string, maxBytes: number): Promise<Buffer> {
  const unreadable = (reason: string) => `cannot be read: ${reason}`;
  try {
    await using file = await open(path, readOnly);
    const found = await file.stat();
    if (!found.isFile() && !found.isDirectory())
      throw LorekeepError.about('IO', { file: path, reason: unreadable('not a regular file') });
    return await readConfig(file, maxBytes);
  } catch (cause) {
    if (cause instanceof LorekeepError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw LorekeepError.about('NOT_FOUND', { file: path, reason: 'the file does not exist' }, { cause });
    }
    const reason = code === 'EISDIR' ? 'is a folder; a file is expected' : unreadable(systemReason(cause));
    throw LorekeepError.about('IO', { file: path, reason }, { cause });
  }
}

/** The content of an open file, up to one byte more than `maxBytes`: a device or a pipe has no size and may have no end. */
async function readConfig(file: FileHandle, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.createReadStream({ autoClose: false, end: maxBytes })) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
