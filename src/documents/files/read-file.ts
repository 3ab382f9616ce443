import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegular } from '../../../lib/regular-file.js';
import { UnreadableDocument } from '../document.js';

/** Largest file that is read as a whole. Tables are read row by row and have no limit. */
const mostFileBytes = 64 * 1024 * 1024;

/** Bytes in which a NUL makes a file binary. */
const headBytes = 8000;

/** Opens a regular file; a link is refused. @throws UnreadableDocument */
export async function openDocument(path: string): Promise<FileHandle> {
  try {
    return await openRegular(path, constants.O_NOFOLLOW ?? 0);
  } catch (error) {
    throw new UnreadableDocument(openReason(error as NodeJS.ErrnoException), { cause: error });
  }
}

function openReason({ code, message }: NodeJS.ErrnoException): string {
  if (code === undefined) return 'is not a regular file';
  if (code === 'ELOOP') return 'is a symbolic link; links are not followed';
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read: permission denied';
  return `cannot be read: ${message.replace(/, \w+ '.*$/s, '')}`;
}

/** Reads a file. @throws UnreadableDocument, also for one of more than mostFileBytes */
export async function readBytes(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  if (size > mostFileBytes) throw tooLarge();
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of file.createReadStream({ autoClose: false, end: mostFileBytes })) {
      chunks.push(chunk as Buffer);
    }
    const bytes = Buffer.concat(chunks);
    if (bytes.length > mostFileBytes) throw tooLarge();
    return bytes;
  } catch (cause) {
    if (cause instanceof UnreadableDocument) throw cause;
    throw new UnreadableDocument(`cannot be read: ${(cause as Error).message}`, { cause });
  }
}

const tooLarge = () =>
  new UnreadableDocument(`is larger than ${mostFileBytes / 2 ** 20} MiB; split it into several files`);

/** Decodes UTF-8, or UTF-16 with a byte order mark. @throws UnreadableDocument for binary content and other encodings */
export function decodeText(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.subarray(0, headBytes).includes(0)) throw new UnreadableDocument('is a binary file, not text');
  if (!isUtf8(bytes)) throw new UnreadableDocument('is not UTF-8 text; convert it, for example with iconv');
  return new TextDecoder().decode(bytes);
}
