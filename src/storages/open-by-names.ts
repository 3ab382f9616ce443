import { close, constants, fstatSync, open } from 'node:fs';
import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { exact, fileId, fileIdAt, makeFolder } from '../../lib/basics.js';
import type { BeneathRequest, BeneathResult } from '../../lib/internal.js';
import { isWithin } from '../base/files/within.js';

type Reached = BeneathResult['reached'];

/**
 * openBeneath() for systems without folder descriptors (Windows), with the same results. A link that changes between
 * check and opening is detected once the file is open. Places have no descriptor.
 */
export async function openByNames(request: BeneathRequest): Promise<BeneathResult> {
  const { wanted } = request;
  const none = (reached: Reached): BeneathResult => ({ reached, folder: '', name: '', descriptor: -1 });
  const root = await realpath(request.root).catch(() => undefined);
  const folder = await realpath(join(request.root, request.folder)).catch(() => undefined);
  if (root === undefined || folder === undefined || !isWithin(folder, root)) return none('no folder');
  try {
    const path = await follow(folder, join(folder, request.path));
    if (await isClosed(path, request)) return none('closed');
    for (const sealed of request.sealed) {
      if (isWithin(root, await realpath(sealed).catch(() => sealed))) return none('closed');
    }
    if (wanted === 'place' && !(await hasFolder(path, request.makeFolders))) return none('absent');
    const found = await stat(path).catch(ignoreAbsence);
    const fits = wanted === 'folder' ? found?.isDirectory() : found?.isFile();
    if (fits !== true && (found !== undefined || wanted !== 'place')) return none('absent');
    const descriptor = wanted === 'file' ? await openChecked(folder, path) : -1;
    return { reached: 'opened', folder, name: relative(folder, path).split(sep).join('/'), descriptor };
  } catch (error) {
    return none(reachedOf(error));
  }
}

async function hasFolder(path: string, make: boolean): Promise<boolean> {
  if (make) makeFolder(dirname(path));
  return (await stat(dirname(path)).catch(ignoreAbsence))?.isDirectory() === true;
}

class Outside extends Error {}

/** Maximum number of symbolic links in a path, as on Linux. */
const maxLinks = 40;

/** Resolves links; trailing parts of the path may be absent. @throws Outside before it examines anything outside */
async function follow(boundary: string, path: string, links = 0): Promise<string> {
  if (!isWithin(path, boundary)) throw new Outside();
  const parts = relative(boundary, path).split(sep).filter(Boolean);
  let at = boundary;
  for (const [index, part] of parts.entries()) {
    const next = join(at, part);
    const found = await lstat(next).catch(ignoreAbsence);
    const rest = parts.slice(index + 1);
    if (found === undefined) return join(next, ...rest);
    if (found.isSymbolicLink()) {
      if (links === maxLinks) throw Object.assign(new Error('too many links'), { code: 'ELOOP' });
      return follow(boundary, join(resolve(at, await readlink(next)), ...rest), links + 1);
    }
    at = next;
  }
  return at;
}

async function openChecked(boundary: string, path: string): Promise<number> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const descriptor = await promisify(open)(path, flags);
  try {
    const opened = fileId(fstatSync(descriptor, exact));
    const named = fileId(await stat(path, exact));
    if (!isWithin(await realpath(path), boundary) || opened !== named) throw new Outside();
    return descriptor;
  } catch (error) {
    await promisify(close)(descriptor);
    throw error;
  }
}

async function isClosed(path: string, { closed, logs }: BeneathRequest): Promise<boolean> {
  if (logs !== '' && /\.log/i.test(path) && dirname(path) === (await realpath(logs).catch(() => logs)))
    return true;
  const found = await fileIdAt(path);
  for (const each of closed) {
    const real = await realpath(each).catch(() => each);
    const same = found !== undefined && (await fileIdAt(each)) === found;
    if (same || isWithin(path, real)) return true;
  }
  return false;
}

function ignoreAbsence(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  return undefined;
}

function reachedOf(error: unknown): Reached {
  if (error instanceof Outside) return 'outside';
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return 'forbidden';
  if (['ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EEXIST', 'EROFS'].includes(code)) return 'absent';
  throw error;
}
