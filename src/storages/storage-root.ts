import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep, win32 } from 'node:path';
import type { PathResolver } from '../knowledge/index.js';
import { type ErrorCode, fail } from '../protocol/errors.js';

/** The folder that the file paths of one session's requests start at and must stay within. */
export class StorageRoot {
  readonly #folder: string;

  /** `folder` is absolute; it is looked at when a path is first resolved. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The root of a session that brings its own folder; a relative one starts at this root. */
  within(folder: string): StorageRoot {
    return new StorageRoot(resolve(this.#folder, folder));
  }

  /**
   * The real path of a file that a request names. `where` names the field in errors.
   * @throws StorageOutsideRoot for an absolute path and for one that leaves the root, by `..` or by a symbolic link;
   * StorageFileNotFound
   */
  async resolve(path: string, where: string): Promise<string> {
    const root = await this.#realFolder(where);
    return inside(root, root, { path, where, absent: 3010 });
  }

  /** Resolves what a config file of this root names, in the same way; an absent file makes the config invalid. */
  besideConfig(configPath: string): PathResolver {
    return async (path, where, written) => {
      const root = await this.#realFolder(where);
      const named: Named = { path, where, absent: 8003 };
      return inside(root, dirname(configPath), named, written);
    };
  }

  /** Takes the root out of a message or a path: where it is on the server is not the client's business. */
  async hide(text: string): Promise<string> {
    const root = await realpath(this.#folder).catch(() => this.#folder);
    return text.replaceAll(join(root, sep), '');
  }

  async #realFolder(where: string): Promise<string> {
    try {
      return await realpath(this.#folder);
    } catch {
      return fail(3010, `${where}: the storage root is absent or cannot be read`, { path: where });
    }
  }
}

interface Named {
  path: string;
  where: string;
  /** Code of an absent file. */
  absent: ErrorCode;
}

async function inside(root: string, base: string, named: Named, written = false): Promise<string> {
  const { path } = named;
  if (isAbsolute(path) || win32.isAbsolute(path) || path.includes('\0')) refuseOutside(named);
  const target = resolve(base, path);
  if (!isWithin(root, target)) refuseOutside(named);
  const real = await realPath(target);
  if (real === undefined && written) return writable(root, target, named);
  if (real !== undefined && !isWithin(root, real)) refuseOutside(named);
  if (real === undefined || !(await stat(real)).isFile()) {
    const shown = JSON.stringify(path.slice(0, 256));
    return fail(named.absent, `${named.where}: there is no file ${shown}`, { path: named.where });
  }
  return real;
}

/** A file that is to be made: the folder that it goes to must be inside too. */
async function writable(root: string, target: string, named: Named): Promise<string> {
  const folder = await realPath(dirname(target));
  if (folder !== undefined && !isWithin(root, folder)) refuseOutside(named);
  return target;
}

async function realPath(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    return undefined;
  }
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function refuseOutside({ path, where }: Named): never {
  const shown = JSON.stringify(path.slice(0, 256));
  fail(3009, `${where}: ${shown} is absolute or leaves the storage root`, { path: where });
}
