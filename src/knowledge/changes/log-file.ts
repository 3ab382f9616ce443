import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  exact,
  fileId,
  LorekeepError,
  moveOver,
  removeStrays,
  syncFolder,
  systemReason,
  temporaryName,
} from '../../../lib/basics.js';

/** An open change log, as its writer uses it. Tests record the calls, or let them fail. */
export interface LogFile {
  /** Writes all bytes at a position. @throws system errors */
  write(bytes: Uint8Array, position: number): Promise<void>;
  read(position: number, length: number): Promise<Buffer>;
  /** Makes everything that was written durable. @throws system errors */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Whether the file is at a path, with at least so many bytes; "gone": no file is there. @throws system errors */
  placeOf(path: string, size: number): Promise<'here' | 'gone' | 'other'>;
  close(): Promise<void>;
}

/** Where change logs are opened and put in place. The caller holds the lock of the log. */
export interface LogFiles {
  /** Opens a log that exists, and removes what killed writers of it left. @throws INVALID_ARGUMENT for anything but a regular file, system errors */
  open(path: string): Promise<LogFile>;
  /**
   * Puts a log with this content in place, in one step and durably, and opens it. Removes the words of the log before it, which may be
   * forgotten, and what killed writers left. `mode`: its permissions; default: the owner's alone. @throws system errors
   */
  replace(path: string, content: readonly Uint8Array[], mode?: number): Promise<LogFile>;
}

/** Logs hold texts that may be private: like new records files of `lorekeep index`, they are the owner's. */
const ownerOnly = 0o600;

/** Beside a change log: the text index of its changes up to a version. */
export const wordsOf = (changes: string): string => `${changes}.bm25`;

/** Removes the saved words of a log. A folder in their place stays: no words are saved there. @throws system errors */
export async function removeWords(changes: string): Promise<void> {
  const file = wordsOf(changes);
  const found = await lstat(file).catch(() => undefined);
  if (found?.isDirectory() === false) await rm(file, { force: true });
}

export const systemLogFiles: LogFiles = {
  async open(path) {
    await removeStrays(path, { alone: true });
    return new SystemLogFile(await open(path, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0)));
  },

  async replace(path, content, mode) {
    await removeWords(path);
    return await replaceFile(path, content, mode);
  },
};

/** Puts a file with this content in place, in one step and durably, and opens it. @throws as LogFiles.replace() */
async function replaceFile(
  path: string,
  content: readonly Uint8Array[],
  mode = ownerOnly,
): Promise<SystemLogFile> {
  const old = await lstat(path).catch(() => undefined);
  if (old !== undefined && !old.isFile()) {
    const reason = 'is not a regular file, so it is not replaced';
    throw LorekeepError.about('INVALID_ARGUMENT', { file: path, reason });
  }
  await removeStrays(path, { alone: true });
  const temporary = temporaryName(path);
  const file = new SystemLogFile(await open(temporary, 'wx+', mode));
  try {
    let at = 0;
    for (const part of content) {
      await file.write(part, at);
      at += part.length;
    }
    await file.sync();
    await moveOver(temporary, path);
    await syncFolder(dirname(path));
    return file;
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Puts a whole file beside a change log, as closed as that. The caller holds the lock of the log. @throws IO, INVALID_ARGUMENT as replace() */
export async function putBesideLog(path: string, content: readonly Uint8Array[]): Promise<void> {
  try {
    await (await replaceFile(path, content)).close();
  } catch (cause) {
    if (cause instanceof LorekeepError) throw cause;
    throw LorekeepError.about(
      'IO',
      { file: path, reason: `cannot be written: ${systemReason(cause)}` },
      { cause },
    );
  }
}

class SystemLogFile implements LogFile {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, position + done);
      done += bytesWritten;
    }
  }

  async read(position: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  }

  sync(): Promise<void> {
    return this.#file.datasync();
  }

  truncate(size: number): Promise<void> {
    return this.#file.truncate(size);
  }

  async placeOf(path: string, size: number): Promise<'here' | 'gone' | 'other'> {
    const there = await lstat(path, exact).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (there === undefined) return 'gone';
    const own = await this.#file.stat(exact);
    return fileId(own) === fileId(there) && own.size >= size ? 'here' : 'other';
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
