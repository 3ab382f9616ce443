import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LorekeepError } from '../boundary/errors.js';
import { makeFolder } from './make-folder.js';
import { processExists } from './process-exists.js';

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

/** Decides by content whether a file may be replaced. */
export interface ReplaceRule {
  isOurs(content: string): boolean;
  /** Largest file in bytes that is read to decide; a larger one is not ours. */
  maxBytes: number;
}

/**
 * Writes a temporary file next to `path`, creating folders, and renames it into place. The existing file must be absent, empty, or a
 * regular file of ours. It is checked first, and again by device and inode just before the rename. The new file has its
 * permissions and owner.
 * @throws system errors; INVALID_ARGUMENT for a file that is not ours; IO for one that others keep replacing
 */
export async function replaceFile(path: string, content: string, rule: ReplaceRule): Promise<void> {
  makeFolder(dirname(path));
  const like = await checkOurs(path, rule);
  await removeStrays(path);
  await writeWhole(path, (write) => write(content), { check: () => checkOurs(path, rule), like });
}

/** Permissions and owner of a file. */
export type Access = Pick<Stats, 'mode' | 'uid' | 'gid'>;

const permissionBits = 0o777;
const ownerBits = 0o700;
const groupBits = 0o070;

/** Appends to a file that is being written. */
export type Write = (text: string) => Promise<unknown>;

/**
 * Writes a temporary file next to `path` and renames it into place, so that readers see the old file or the new one. `check()` runs
 * just before the rename and may refuse the file that is there by then. `like`: permissions and owner of the new file, as far
 * as this user may set them; nobody else can read it before it has them. Default: the system's.
 * @throws system errors; IO for a file that others keep replacing; errors of `check()` and `content()`
 */
export async function writeWhole(
  path: string,
  content: (write: Write) => Promise<unknown>,
  { check = async () => {}, like }: { check?: () => Promise<unknown>; like?: Access | undefined } = {},
): Promise<void> {
  const temporary = temporaryName(path);
  try {
    const file = await open(temporary, 'wx', like && like.mode & ownerBits);
    try {
      if (like !== undefined) await giveAccess(file, like);
      await content((text) => file.writeFile(text));
      await file.sync();
    } finally {
      await file.close();
    }
    await renameOver(temporary, path, check);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Only root may change the owner, and not every file system has permissions. */
async function giveAccess(file: FileHandle, { mode, uid, gid }: Access): Promise<void> {
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
 * the file must be the same, by device and inode, before and after it: else it is checked again. @throws system errors; IO;
 * errors of `check()`
 */
export async function renameOver(from: string, to: string, check: () => Promise<unknown>): Promise<void> {
  for (let checks = 0; checks < maxChecks; checks++) {
    const seen = await fileIdentity(to);
    await check();
    if ((await fileIdentity(to)) !== seen) continue;
    if (seen !== undefined) return rename(from, to);
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
    await rename(from, to);
    return true;
  }
  await rm(from, { force: true });
  return true;
}

/** Returns the facts of the file, if there is one. @throws system errors; INVALID_ARGUMENT for a file that is not ours */
export async function checkOurs(path: string, { isOurs, maxBytes }: ReplaceRule): Promise<Stats | undefined> {
  let file: FileHandle;
  try {
    file = await openRegular(path, constants.O_NOFOLLOW ?? 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const facts = await file.stat();
    const { size } = facts;
    const ours = size === 0 || (size <= maxBytes && isOurs(await file.readFile('utf8')));
    if (!ours) throw refused(path, 'is not a file that lorekeep wrote, so it is left as it is');
    return facts;
  } finally {
    await file.close();
  }
}

/** The suffix of temporaryName(); earlier versions added no process. */
const temporaryEnd = /^\.(?:(\d+)-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** Returns a name in the folder of `path` for a temporary file of this process, which removeStrays() finds if the process is killed. */
export const temporaryName = (path: string) => `${path}.${process.pid}-${randomUUID()}.tmp`;

/** Removes the temporary files of killed writers of `path`. */
export async function removeStrays(path: string): Promise<void> {
  const [folder, own] = [dirname(path), basename(path)];
  for (const name of await readdir(folder)) {
    const found = name.startsWith(own) ? temporaryEnd.exec(name.slice(own.length)) : null;
    if (found === null) continue;
    const [, writer] = found;
    if (writer === undefined || !processExists(Number(writer))) await rm(join(folder, name), { force: true });
  }
}

/** Returns device and inode of a name, links not followed; undefined if there is no file. */
export async function fileIdentity(path: string): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}:${found.ino}`;
}
