import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, lstat, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LorekeepError } from '../boundary/errors.js';
import { nameIdAt } from './file-stamp.js';
import { makeFolder } from './make-folder.js';
import { moveOver } from './move-over.js';
import { openRegular } from './regular-file.js';
import { systemReason } from './system-reason.js';
import { removeStrays, temporaryName } from './temporary-files.js';

/** Throws if the file at a path, if there is one, may not be replaced. */
export type Check = () => Promise<unknown>;

/**
 * Writes a file in one step: readers see the old file or the new one. Every file that this library writes from TypeScript is
 * written by it, or by native/core/files/atomic_file.h, which has the same rules: the path is absent, empty, or ours. Bytes go to a
 * temporary name next to the path; commit() makes them durable and renames. Temporary files of killed writers are removed.
 * The new file has the permissions and the owner of the old one, as far as this user may set them; nobody else can read it
 * before it has them.
 */
export class OwnFile implements AsyncDisposable {
  readonly #path: string;
  readonly #temporary: string;
  readonly #file: FileHandle;
  readonly #check: Check;
  #isOpen = true;

  private constructor(path: string, temporary: string, file: FileHandle, check: Check) {
    this.#path = path;
    this.#temporary = temporary;
    this.#file = file;
    this.#check = check;
  }

  /** Creates the folder if it is absent. @throws IO, errors of `check()` */
  static open(path: string, check: Check): Promise<OwnFile> {
    return writing(path, async () => {
      makeFolder(dirname(path));
      await check();
      const old = await lstat(path).catch(() => undefined);
      await removeStrays(path);
      const temporary = temporaryName(path);
      const file = await open(temporary, 'wx', old && old.mode & ownerBits);
      const writer = new OwnFile(path, temporary, file, check);
      if (old !== undefined) await giveAccess(file, old).catch(() => {});
      return writer;
    });
  }

  /** Appends. @throws IO */
  write(content: string | Uint8Array): Promise<void> {
    return writing(this.#path, () => this.#file.writeFile(content));
  }

  /** Puts the file into place. Asks `check()` just before. @throws IO, errors of `check()` */
  commit(): Promise<void> {
    return writing(this.#path, async () => {
      await this.#file.sync();
      await this.#file.close();
      await renameOver(this.#temporary, this.#path, this.#check);
      this.#isOpen = false;
      await syncFolder(dirname(this.#path));
    });
  }

  /** Removes an unfinished file. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close().catch(() => {});
    await rm(this.#temporary, { force: true }).catch(() => {});
  }
}

/** Gives errors of the system as IO. */
async function writing<T>(file: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall === undefined) throw cause;
    throw LorekeepError.about('IO', { file, reason: `cannot be written: ${systemReason(cause)}` }, { cause });
  }
}

/** Makes renames in a folder durable, where the system can. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

/** Writes a file by OwnFile. `content`: a text, or a function that writes it in pieces. @throws as OwnFile, errors of `content()` */
export async function writeWhole(
  path: string,
  check: Check,
  content: string | ((write: (text: string) => Promise<void>) => Promise<unknown>),
): Promise<void> {
  await using file = await OwnFile.open(path, check);
  await (typeof content === 'string' ? file.write(content) : content((text) => file.write(text)));
  await file.commit();
}

/** Decides by content whether a file may be replaced. */
export interface ReplaceRule {
  isOurs(content: string): boolean;
  /** Largest file in bytes that is read to decide; a larger one is not ours. Default: 1 GiB. */
  maxBytes?: number;
}

/** Writes a text by OwnFile. @throws INVALID_ARGUMENT for a file that is not ours, IO */
export const replaceFile = (path: string, text: string, rule: ReplaceRule): Promise<void> =>
  writeWhole(path, () => checkOurs(path, rule), text);

/** Returns a rule: the file is a JSON object with these fields. */
export function isJsonWith(fields: (object: Record<string, unknown>) => boolean): ReplaceRule['isOurs'] {
  return (content) => {
    try {
      // Tools of Windows write a byte order mark.
      const value: unknown = JSON.parse(content.replace(/^\uFEFF/, ''));
      return typeof value === 'object' && value !== null && fields(value as Record<string, unknown>);
    } catch {
      return false;
    }
  };
}

const largestRead = 1024 * 1024 * 1024;

/** @throws INVALID_ARGUMENT for a file that is not ours; system errors */
export async function checkOurs(
  path: string,
  { isOurs, maxBytes = largestRead }: ReplaceRule,
): Promise<void> {
  const refuse = (reason: string) => LorekeepError.about('INVALID_ARGUMENT', { file: path, reason });
  let opened: FileHandle;
  try {
    opened = await openRegular(path, constants.O_NOFOLLOW ?? 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code === 'ELOOP') throw refuse('is a symbolic link, so it is not replaced; choose another path');
    throw error;
  }
  await using file = opened;
  const { size } = await file.stat();
  if (size === 0 || (size <= maxBytes && isOurs(await file.readFile('utf8')))) return;
  throw refuse('is not a file that lorekeep wrote, so it is left as it is');
}

const permissionBits = 0o777;
const ownerBits = 0o700;
const groupBits = 0o070;

/** Only root may change the owner, and not every file system has permissions. */
async function giveAccess(file: FileHandle, { mode, uid, gid }: Stats): Promise<void> {
  const made = await file.stat();
  if (made.uid !== uid || made.gid !== gid)
    await file.chown(uid, gid).catch(() => file.chown(made.uid, gid).catch(() => {}));
  const owned = await file.stat();
  // The bits of another group are not for this one.
  const bits = mode & permissionBits & (owned.gid === gid ? permissionBits : ~groupBits);
  if ((owned.mode & permissionBits) !== bits) await file.chmod(bits).catch(() => {});
}

/** Checks of a file that others keep replacing. */
const maxChecks = 20;

/**
 * Renames a file to a name that is free, or whose file `check()` does not refuse. The check runs just before the rename, and
 * the file must be the same before and after it: else it is checked again. @throws system errors; IO; errors of `check()`
 */
export async function renameOver(from: string, to: string, check: Check): Promise<void> {
  for (let checks = 0; checks < maxChecks; checks++) {
    const seen = await nameIdAt(to);
    await check();
    if ((await nameIdAt(to)) !== seen) continue;
    if (seen !== undefined) return moveOver(from, to);
    if (await moveToFreeName(from, to)) return;
  }
  throw LorekeepError.about('IO', { file: to, reason: 'another program keeps replacing it' });
}

/** Returns false if the name is taken by now. A link replaces nothing; not all file systems have links. */
async function moveToFreeName(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    await moveOver(from, to);
    return true;
  }
  await rm(from, { force: true });
  return true;
}
