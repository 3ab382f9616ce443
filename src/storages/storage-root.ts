import { close, createReadStream, fstat } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { type BeneathRequest, type BeneathResult, LorekeepError, openBeneath } from '../../lib/internal.js';
import type { ConfigFiles, ConfigPlace } from '../knowledge/index.js';
import type { ErrorDetailsOf } from '../protocol/error-details.js';
import { fail, serverError } from '../protocol/errors.js';
import { type ShownPath, shownBelow } from './client-error.js';
import { isOutOfDescriptors } from './failure.js';
import { HeldFiles } from './held-files.js';
import { openByNames } from './open-by-names.js';
import { fromRoot, leavesRoot } from './path-spelling.js';
import { isPath } from './storage-name.js';

/** Absolute paths of the server's own files. No request can open them, under any name. */
export interface OwnFiles {
  /** Forbids the files that the config names now, in addition to the files that it named before. */
  remember(): void;
  /** Files, and folders with their content. */
  readonly closed: readonly string[];
  /** Folder of the log files, which are closed even where the folder itself cannot be; "": none. */
  readonly logs: string;
  /** Folders in which no client may have a root. */
  readonly sealed: readonly string[];
}

const noOwnFiles: OwnFiles = { remember: () => {}, closed: [], logs: '', sealed: [] };

/** Longest path in characters; no system allows longer ones. */
const longestPath = 4096;

const open = process.platform === 'win32' ? openByNames : openBeneath;

/**
 * The folder at which the paths in a session's requests start and which they must not leave: `inside`, itself within a
 * folder of the operator. Both limits are checked whenever a path is resolved.
 */
export class StorageRoot {
  readonly #folder: string;
  readonly #inside: string;
  readonly #own: OwnFiles;
  readonly #readOnly: boolean;
  readonly #shut: boolean;

  /**
   * `folder` is absolute, `inside` relative to it. `readOnly`: creates no folders for files to be written. `shut`: opens
   * nothing, for clients without the right to name paths.
   */
  constructor(
    folder: string,
    {
      inside = '',
      own = noOwnFiles,
      readOnly = false,
      shut = false,
    }: { inside?: string; own?: OwnFiles; readOnly?: boolean | undefined; shut?: boolean } = {},
  ) {
    this.#shut = shut;
    this.#readOnly = readOnly;
    this.#folder = folder;
    this.#inside = inside;
    this.#own = own;
  }

  /**
   * Reads a file that a request names, through the descriptor that was checked.
   * @throws StorageOutsideRoot for an absolute path, or a path that leaves the root by `..` or by a symbolic link, existing or
   * not; StorageFileNotFound, also for files closed to clients; InvalidStringStorage if the system denies access; the result
   * of `tooLarge()`, called with the size, above `maxBytes`
   */
  async read(
    path: string,
    where: string,
    maxBytes: number,
    tooLarge: (bytes: number) => never,
  ): Promise<Buffer> {
    const { descriptor } = await this.#open(path, textFile(path, where), 'file');
    try {
      const { size } = await promisify(fstat)(descriptor);
      return size > maxBytes ? tooLarge(size) : await readOpen(descriptor, maxBytes);
    } finally {
      await promisify(close)(descriptor);
    }
  }

  /** Returns the place of a config file by its name in a request. Its open() throws as openConfig(). */
  place(path: string, where: string): ConfigPlace {
    const key = [this.#folder, this.#inside, path].join('\0');
    return { key, open: () => this.openConfig(path, where) };
  }

  /**
   * Opens a config file and the files that it names, at real paths inside the root. They stay open until close(), so that
   * the checked files are the ones loaded, even if others replace them meanwhile.
   * @throws as read(), but InvalidEmbeddedStringStorageData for an unreadable file and for an absent file that the config
   * names
   */
  async openConfig(path: string, where: string): Promise<ConfigFiles> {
    const named = configFile(path, where);
    const found = await this.#open(path, named, 'file');
    const held = new HeldFiles();
    const names = new Map<string, Promise<string>>();
    const realPath = ({ folder, name }: BeneathResult) => join(folder, name);
    const hold = async (file: string, field: string, written: boolean) => {
      const inConfig = fileInConfig(file, field, named);
      const folder = posix.dirname(found.name);
      const result = await this.#open(file, inConfig, written ? 'place' : 'file', folder).catch((error) => {
        // A file that will not be written may be in an absent folder.
        if (written && this.#readOnly && error.code === inConfig.absent) return undefined;
        throw error;
      });
      // Its writer fails, and a storage opens without its caches.
      if (result === undefined || result.reached === 'unmade')
        return held.nowhere(join(dirname(realPath(found)), file));
      return written
        ? held.place(result.descriptor, realPath(result))
        : held.file(result.descriptor, realPath(result));
    };
    return {
      name: realPath(found),
      links: new Map([[join(this.#folder, this.#inside, path), realPath(found)]]),
      config: held.file(found.descriptor, realPath(found)),
      resolvePath: (file, field, written) => {
        const key = `${written}:${file}`;
        const known = names.get(key) ?? hold(file, field, written);
        names.set(key, known);
        return known;
      },
      pathOf: (name) => held.pathOf(name),
      close: async () => {
        await Promise.allSettled(names.values());
        await held.close();
      },
    };
  }

  /** Returns whether a folder (default: the root) exists and is open to clients. `path`: relative, without `..`. */
  async look(path = ''): Promise<BeneathResult['reached']> {
    const { reached, descriptor } = await open(this.#request(path, 'folder'));
    if (descriptor >= 0) await promisify(close)(descriptor);
    return reached;
  }

  /** Shows the paths of the root's files as requests name them, and no folder outside it. */
  async shownPath(): Promise<ShownPath> {
    const folder = join(this.#folder, this.#inside);
    return shownBelow([await realpath(folder).catch(() => folder), folder]);
  }

  #request(path: string, wanted: BeneathRequest['wanted']): BeneathRequest {
    const { closed, logs, sealed } = this.#own;
    const makeFolders = wanted === 'place' && !this.#readOnly;
    return { root: this.#folder, folder: this.#inside, path, wanted, makeFolders, closed, logs, sealed };
  }

  /** `base`: the folder that the path starts at, relative to the root. */
  async #open(
    path: string,
    named: Named,
    wanted: BeneathRequest['wanted'],
    base = '.',
  ): Promise<BeneathResult> {
    const depth = base === '.' ? 0 : base.split('/').length;
    if (this.#shut) refuseShut(named);
    if (leavesRoot(path, depth)) refuseOutside(named);
    if (path.length > longestPath) refuseAbsent(named);
    const result = await open(this.#request(fromRoot(base, path), wanted)).catch((error: unknown) => {
      throw openFailure(error, named);
    });
    switch (result.reached) {
      case 'opened':
      case 'unmade':
        return result;
      case 'outside':
        return refuseOutside(named);
      case 'forbidden':
        return refuseUnreadable(named);
      case 'no folder':
        return refuseRoot(named);
      default:
        return refuseAbsent(named);
    }
  }
}

const readOpen = (fd: number, maxBytes: number): Promise<Buffer> =>
  buffer(createReadStream('', { fd, autoClose: false, start: 0, end: maxBytes - 1 }));

/** How a file was named, and the error codes for it. */
interface Named {
  path: string;
  /** Start of messages. */
  where: string;
  details: ErrorDetailsOf<3010>;
  absent: 3010 | 8003;
  unreadable: 4010 | 8003;
}

function configFile(path: string, where: string): Named {
  return { path, where, details: { path: where }, absent: 3010, unreadable: 8003 };
}

function textFile(path: string, where: string): Named {
  return { path, where, details: { path: where, file: path.slice(0, 256) }, absent: 3010, unreadable: 4010 };
}

/** Describes a file named in a field of a config; if it is absent, the config is invalid. */
function fileInConfig(path: string, field: string, config: Named): Named {
  const where = `${config.where}: ${shown(config.path)}: ${field}`;
  const details = { ...config.details, file: config.path.slice(0, 256), field };
  return { path, where, details, absent: 8003, unreadable: 8003 };
}

const shown = (path: string) => JSON.stringify(path.slice(0, 256));

function refuseOutside({ path, where, details }: Named): never {
  // The client has not sent the paths of a config, and it may not learn absolute ones.
  const told = 'field' in details ? 'the path' : shown(path);
  const problem = `${told} is absolute or leaves the storage root; a path inside it is expected`;
  fail(3009, `${where}: ${problem}`, details);
}

function refuseAbsent({ path, where, details, absent }: Named): never {
  const start = absent === 3010 ? ' in the storage root, where paths start' : '';
  const remedy = where.endsWith(': index_file') ? '; lorekeep build makes it of the records' : '';
  fail(absent, `${where}: there is no file ${shown(path)}${start}${remedy}`, details);
}

/** A text that could be a name is an unknown name. */
function refuseShut(named: Named): never {
  if (!isPath(named.path)) refuseAbsent(named);
  fail(2013, `${named.where}: the key has no right "files", so it may name no path`, {
    path: named.where,
    right: 'files',
  });
}

function refuseRoot({ where, details }: Named): never {
  fail(3010, `${where}: the storage root is absent or cannot be read`, details);
}

function refuseUnreadable({ path, where, details, unreadable }: Named): never {
  fail(unreadable, `${where}: the server may not read ${shown(path)}`, details);
}

/** Returns the error for a failure of the system rather than the file. */
function openFailure(cause: unknown, { path, where, details, unreadable }: Named): unknown {
  if (!(cause instanceof LorekeepError) || cause.code !== 'IO' || isOutOfDescriptors(cause)) return cause;
  const message = `${where}: ${shown(path)} cannot be opened now: ${cause.message}`;
  return serverError(unreadable, message, details, { cause });
}
