import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep, win32 } from 'node:path';
import type { ConfigFiles, ConfigPlace } from '../knowledge/index.js';
import { type ErrorCode, type ErrorDetails, fail } from '../protocol/errors.js';
import { HeldFiles } from './held-files.js';

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
   * The content of a file that a request names; what is read is what was checked.
   * @throws StorageOutsideRoot for an absolute path and for one that leaves the root, by `..` or by a symbolic link;
   * StorageFileNotFound; InvalidStringStorage when it may not be read; `tooLarge()` is called with the size when it is more
   * than `maxBytes`
   */
  async read(
    path: string,
    where: string,
    maxBytes: number,
    tooLarge: (bytes: number) => never,
  ): Promise<Buffer> {
    const named = textFile(path, where);
    const root = await this.#realFolder(where);
    const held = new HeldFiles();
    let handle: FileHandle | undefined;
    try {
      handle = await open(await holdFile(held, await readable(root, root, named), root, named));
      const { size } = await handle.stat();
      return size > maxBytes ? tooLarge(size) : await handle.readFile();
    } finally {
      await handle?.close();
      await held.close();
    }
  }

  /** A config file by the name that a request gives it. What open() throws is openConfig()'s. */
  place(path: string, where: string): ConfigPlace {
    return { key: `${this.#folder}\0${path}`, open: () => this.openConfig(path, where) };
  }

  /**
   * A config file and the files that it names, at real paths inside the root. They stay open until close(): what is
   * loaded from them is what was checked, whatever is put in their place meanwhile.
   * @throws as read(), but InvalidEmbeddedStringStorageData for one that may not be read, and for an absent file that the
   * config names
   */
  async openConfig(path: string, where: string): Promise<ConfigFiles> {
    const named = configFile(path, where);
    const root = await this.#realFolder(where);
    const real = await readable(root, root, named);
    const held = new HeldFiles();
    const names = new Map<string, Promise<string>>();
    const hold = async (written: boolean, inConfig: Named) => {
      const target = await inside(root, dirname(real), inConfig, written);
      return written ? holdPlace(held, target, root, inConfig) : holdFile(held, target, root, inConfig);
    };
    try {
      const config = await holdFile(held, real, root, named);
      return {
        name: real,
        config,
        links: followed([this.#folder, root], [resolve(this.#folder, path), real]),
        resolvePath: (file, field, written) => {
          const key = `${written}:${file}`;
          const known = names.get(key) ?? hold(written, fileInConfig(file, field, named));
          names.set(key, known);
          return known;
        },
        shown: (text) => held.shown(text),
        close: async () => {
          await Promise.allSettled(names.values());
          await held.close();
        },
      };
    } catch (error) {
      await held.close();
      throw error;
    }
  }

  /** Takes the root out of a message or a path: where it is on the server is not the client's business. */
  async hide(text: string): Promise<string> {
    const root = await realpath(this.#folder).catch(() => this.#folder);
    const prefix = join(root, sep);
    // In a root that is the whole disk, paths hide nothing.
    return prefix === parse(prefix).root ? text : text.replaceAll(prefix, '');
  }

  async #realFolder(where: string): Promise<string> {
    try {
      return await realpath(this.#folder);
    } catch {
      return fail(3010, `${where}: the storage root is absent or cannot be read`, { path: where });
    }
  }
}

/** Paths that links are on, and where they lead. */
function followed(...paths: [path: string, real: string][]): Map<string, string> {
  return new Map(paths.filter(([path, real]) => path !== real));
}

/** How a file was named, and what is answered when it cannot be had. */
interface Named {
  path: string;
  /** What messages begin with. */
  where: string;
  details: ErrorDetails;
  absent: ErrorCode;
  unreadable: ErrorCode;
}

function configFile(path: string, where: string): Named {
  return { path, where, details: { path: where }, absent: 3010, unreadable: 8003 };
}

function textFile(path: string, where: string): Named {
  return { path, where, details: { path: where, file: path.slice(0, 256) }, absent: 3010, unreadable: 4010 };
}

/** A file that a config names in one of its fields: an absent one makes the config invalid. */
function fileInConfig(path: string, field: string, config: Named): Named {
  const where = `${config.where}: ${shown(config.path)}: ${field}`;
  const details = { ...config.details, file: config.path.slice(0, 256), field };
  return { path, where, details, absent: 8003, unreadable: 8003 };
}

/** No system has longer ones; reading what a longer one may mean could take for ever. */
const longestPath = 4096;

/** The real path of an existing file. */
async function readable(root: string, base: string, named: Named): Promise<string> {
  return inside(root, base, named, false);
}

async function inside(root: string, base: string, named: Named, written: boolean): Promise<string> {
  const { path } = named;
  if (path.length > longestPath) refuseAbsent(named);
  if (spellings(path).some((spelled) => leaves(root, base, spelled))) refuseOutside(named);
  const target = resolve(base, path);
  const real = await realPath(target, named);
  if (real === undefined && written) return writable(root, target, named);
  if (real !== undefined && !isWithin(root, real)) refuseOutside(named);
  if (real === undefined || !(await isFile(real, named))) refuseAbsent(named);
  return real;
}

/** A file that is to be made: the folder that it goes to must be inside too. */
async function writable(root: string, target: string, named: Named): Promise<string> {
  const folder = await realPath(dirname(target), named);
  if (folder === undefined) refuseAbsent(named);
  if (!isWithin(root, folder)) refuseOutside(named);
  return join(folder, basename(target));
}

/**
 * What a path may mean to a client of another system, or to one that encoded it as in a URL. Each must stay inside, so that
 * the same request is refused on every system.
 */
function spellings(path: string): string[] {
  const decoded = decode(path);
  return [path, path.replaceAll('\\', '/'), decoded, decoded.replaceAll('\\', '/')];
}

/** Percent-encoding taken off, however often it was put on. */
function decode(path: string): string {
  let decoded = path;
  // Each round shortens the text, so this ends.
  for (;;) {
    const next = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (next === decoded) return decoded;
    decoded = next;
  }
}

const driveLetter = /^[a-z]:/i;

function leaves(root: string, base: string, path: string): boolean {
  if (isAbsolute(path) || win32.isAbsolute(path) || driveLetter.test(path) || path.includes('\0'))
    return true;
  return !isWithin(root, resolve(base, path));
}

const holdFile = (held: HeldFiles, path: string, root: string, named: Named) =>
  checked(named, () =>
    held.hold(path, (real, isFile) => {
      checkInside(root, real, named);
      if (!isFile) refuseAbsent(named);
    }),
  );

const holdPlace = (held: HeldFiles, path: string, root: string, named: Named) =>
  checked(named, () => held.holdPlace(path, (real) => checkInside(root, real, named)));

function checkInside(root: string, real: string | undefined, named: Named): void {
  if (real !== undefined && !isWithin(root, real)) refuseOutside(named);
}

/** What stands at a checked path has changed since: it is a link now, or gone. */
async function checked(named: Named, hold: () => Promise<string>): Promise<string> {
  try {
    return await hold();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP' || code === 'ENOTDIR') refuseOutside(named);
    if (code === 'ENOENT') refuseAbsent(named);
    refuseForbidden(error, named);
    throw error;
  }
}

async function realPath(path: string, named: Named): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    refuseForbidden(error, named);
    return undefined;
  }
}

/** Whether a file is there still: what stood at a real path may be gone, or be something else, since it was found. */
async function isFile(real: string, named: Named): Promise<boolean> {
  try {
    return (await stat(real)).isFile();
  } catch (error) {
    refuseForbidden(error, named);
    return false;
  }
}

function refuseForbidden(error: unknown, named: Named): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') refuseUnreadable(named);
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

const shown = (path: string) => JSON.stringify(path.slice(0, 256));

function refuseOutside({ path, where, details }: Named): never {
  fail(
    3009,
    `${where}: ${shown(path)} is absolute or leaves the storage root; a path inside it is expected`,
    details,
  );
}

function refuseAbsent({ path, where, details, absent }: Named): never {
  const start = absent === 3010 ? ' in the storage root, where paths start' : '';
  fail(absent, `${where}: there is no file ${shown(path)}${start}`, details);
}

function refuseUnreadable({ path, where, details, unreadable }: Named): never {
  fail(unreadable, `${where}: the server may not read ${shown(path)}`, details);
}
