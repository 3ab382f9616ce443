import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { LorekeepError, unreadable } from '../../../lib/basics.js';

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

/** Returns up to one byte more than `maxBytes`: a device or a pipe has no size and may have no end. */
async function readBytes(path: string, maxBytes: number): Promise<Buffer> {
  try {
    await using file = await open(path, readOnly);
    const found = await file.stat();
    if (!found.isFile() && !found.isDirectory())
      throw LorekeepError.about('IO', { file: path, reason: 'cannot be read: not a regular file' });
    return await buffer(file.createReadStream({ autoClose: false, end: maxBytes }));
  } catch (cause) {
    throw cause instanceof LorekeepError ? cause : unreadable(path, cause);
  }
}
