import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { LorekeepError, openRegular, systemReason } from '../../../lib/basics.js';
import { UnreadableDocument } from '../document.js';

/** Largest file that is read as a whole. Tables are read row by row and have no limit. */
const maxFileBytes = 64 * 1024 * 1024;

/** Bytes in which a NUL makes a file binary. */
const headBytes = 8000;

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

/** The encoding that a byte order mark names, else UTF-8. */
export function encodingOf([first, second]: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Decodes UTF-8, or UTF-16 with a byte order mark. @throws UnreadableDocument for binary content and other encodings */
export function decodeText(bytes: Buffer): string {
  const encoding = encodingOf(bytes);
  if (encoding !== 'utf-8') return new TextDecoder(encoding).decode(bytes);
  if (bytes.subarray(0, headBytes).includes(0)) throw new UnreadableDocument('is a binary file, not text');
  if (!isUtf8(bytes)) throw new UnreadableDocument('is not UTF-8 text; convert it, for example with iconv');
  return new TextDecoder().decode(bytes);
}

/** Windows-1252 from 0x80 on. Some versions of Node.js decode these bytes as Latin-1; the others give no such character. */
const windowsCharacters = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const windowsCharacter = (character: string) => windowsCharacters[character.charCodeAt(0) - 0x80] as string;

/** Browsers look for a declared encoding in this many bytes. */
const declarationBytes = 1024;

/** Decodes an HTML page: as decodeText(), else in the encoding that the page declares. @throws UnreadableDocument */
export function decodeHtml(bytes: Buffer): string {
  const head = bytes.subarray(0, declarationBytes).toString('latin1');
  const declared = /<(?:meta|\?xml)\b[^>]*(?:charset|encoding)\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1];
  if (declared === undefined || isUtf8(bytes) || encodingOf(bytes) !== 'utf-8') return decodeText(bytes);
  try {
    const decoder = new TextDecoder(declared, { fatal: true });
    const text = decoder.decode(bytes);
    return decoder.encoding === 'windows-1252' ? text.replace(/[\x80-\x9f]/g, windowsCharacter) : text;
  } catch {
    return decodeText(bytes); // an unknown encoding, or not this one
  }
}
