import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { LorekeepError, openRegular, systemReason } from '../../../lib/basics.js';
import { UnreadableDocument } from '../document.js';

/** Largest file that is read as a whole. Tables are read row by row and have no limit. */
const maxFileBytes = 64 * 1024 * 1024;

/** Opens a regular file; a link is refused. @throws UnreadableDocument */
export async function openDocument(path: string): Promise<FileHandle> {
  try {
    return await openRegular(path, constants.O_NOFOLLOW ?? 0);
  } catch (error) {
    const reason =
      error instanceof LorekeepError
        ? String(error.detail.reason)
        : openReason(error as NodeJS.ErrnoException);
    throw new UnreadableDocument(reason, { cause: error });
  }
}

/** Why a path cannot be opened or listed, without the path. */
export function openReason(error: NodeJS.ErrnoException): string {
  const { code, path } = error;
  // Node.js reads such a name with this character in it, and then finds no file of that name.
  if (code === 'ENOENT' && path?.includes('\uFFFD')) return 'its name is not UTF-8; rename it';
  if (code === 'ELOOP') return 'is a symbolic link; links are not followed';
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read: permission denied';
  return `cannot be read: ${systemReason(error)}`;
}

/** Reads a file. @throws UnreadableDocument, also for one of more than maxFileBytes */
export async function readBytes(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  if (size > maxFileBytes) throw tooLarge();
  try {
    const bytes = await buffer(file.createReadStream({ autoClose: false, end: maxFileBytes }));
    if (bytes.length > maxFileBytes) throw tooLarge();
    return bytes;
  } catch (cause) {
    if (cause instanceof UnreadableDocument) throw cause;
    throw new UnreadableDocument(`cannot be read: ${systemReason(cause)}`, { cause });
  }
}

const tooLarge = () =>
  new UnreadableDocument(`is larger than ${maxFileBytes / 2 ** 20} MiB; split it into several files`);
