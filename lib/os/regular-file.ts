import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { LorekeepError } from '../boundary/errors.js';
import { systemReason } from './system-reason.js';

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

/** Returns the error for a file or a folder that the system does not let us read. */
export function unreadable(file: string, cause: unknown, what = 'file'): LorekeepError {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return LorekeepError.about('NOT_FOUND', { file, reason: `the ${what} does not exist` }, { cause });
  const reason =
    code === 'EISDIR' ? 'is a folder; a file is expected' : `cannot be read: ${systemReason(cause)}`;
  return LorekeepError.about('IO', { file, reason }, { cause });
}

const refused = (file: string, reason: string) => LorekeepError.about('INVALID_ARGUMENT', { file, reason });
