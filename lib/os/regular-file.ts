import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { LorekeepError } from '../boundary/errors.js';

/** Opening a pipe without a writer would block a thread forever. Windows has neither the flag nor such pipes. */
const waitForNobody = constants.O_NONBLOCK ?? 0;

/** Opens a file for reading. @throws system errors; INVALID_ARGUMENT for a pipe, a device, a socket or a folder */
export async function openRegular(path: string, flags = 0): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | waitForNobody | flags);
  try {
    if (!(await file.stat()).isFile()) throw refused(path, 'is not a regular file');
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads the text of a regular file. @throws as readRegularBytes() */
export async function readRegular(path: string, maxBytes: number, flags = 0): Promise<string> {
  return (await readRegularBytes(path, maxBytes, flags)).toString('utf8');
}

/** Reads a regular file. @throws as openRegular(), also for more than `maxBytes` */
export async function readRegularBytes(path: string, maxBytes: number, flags = 0): Promise<Buffer> {
  await using file = await openRegular(path, flags);
  const { size } = await file.stat();
  if (size > maxBytes) throw refused(path, `is longer than ${maxBytes} bytes`);
  return await file.readFile();
}

const refused = (file: string, reason: string) => LorekeepError.about('INVALID_ARGUMENT', { file, reason });
