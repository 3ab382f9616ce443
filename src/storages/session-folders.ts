import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { fail } from '../protocol/errors.js';
import { type OwnFiles, StorageRoot } from './storage-root.js';

/** A knowledge base that the operator's config names: its file, and the root that it is opened in. */
export interface DeclaredStorage {
  readonly root: StorageRoot;
  readonly file: string;
  /** Whether the operator lets clients change it. */
  readonly writable: boolean;
}

export type DeclaredStorages = ReadonlyMap<string, DeclaredStorage>;

export interface SessionFolderOptions {
  /** Absolute path. */
  storageRoot: string;
  /** Folders allowed besides those inside the storage root: any, or those inside these absolute folders. */
  open: 'any' | 'storage_root' | readonly string[];
  own: OwnFiles;
  /** Whether opening a storage writes no files. */
  readOnly?: boolean | undefined;
}

/** The folders that sessions may use as their storage roots. */
export class SessionFolders {
  readonly #options: SessionFolderOptions;
  /** The root of sessions without their own folder. */
  readonly root: StorageRoot;
  /** The root of sessions that may open no path. */
  readonly none: StorageRoot;

  constructor(options: SessionFolderOptions) {
    this.#options = options;
    this.root = new StorageRoot(options.storageRoot, options);
    this.none = new StorageRoot(options.storageRoot, { ...options, shut: true });
  }

  /** To be called when the config names other files of the server: these stay closed, also if no request comes before the next change. */
  ownFilesChanged(): void {
    this.#options.own.remember();
  }

  /** Returns storages by the absolute paths of their config files; each opens in the folder of its file. */
  declared(
    files: Readonly<Record<string, { readonly config: string; readonly writable: boolean }>>,
  ): DeclaredStorages {
    const { own, readOnly } = this.#options;
    const entries = Object.entries(files).map(([name, { config, writable }]) => {
      const root = new StorageRoot(dirname(config), { own, readOnly });
      return [name, { root, file: basename(config), writable }] as const;
    });
    return new Map(entries);
  }

  /**
   * Returns the root for a session's own folder; relative paths start at the storage root. The folder may be absent.
   * @throws SessionFolderRefused, equal for folders that exist and folders that do not
   */
  async within(folder: string): Promise<StorageRoot> {
    const { storageRoot, open, own, readOnly } = this.#options;
    const path = resolve(storageRoot, folder);
    if (isKernelPath(path)) refuse(folder);
    if (open === 'any') {
      const root = new StorageRoot(path, { own, readOnly });
      return (await root.look()) === 'closed' ? refuse(folder) : root;
    }
    for (const allowed of [storageRoot, ...(open === 'storage_root' ? [] : open)]) {
      const inside = await pathInside(allowed, path);
      if (inside === undefined) continue;
      const found = await new StorageRoot(allowed, { own }).look(inside);
      if (found !== 'outside' && found !== 'closed')
        return new StorageRoot(allowed, { inside, own, readOnly });
    }
    return refuse(folder);
  }
}

const kernelFolders = ['/proc', '/sys', '/dev'];

const isKernelPath = (path: string) => kernelFolders.some((folder) => below(folder, path) !== undefined);

/** Returns the path relative to an allowed folder, by its given or its real name. Examines nothing outside. */
async function pathInside(allowed: string, path: string): Promise<string | undefined> {
  return below(allowed, path) ?? below(await realpath(allowed).catch(() => allowed), path);
}

function below(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way) ? undefined : way;
}

function refuse(folder: string): never {
  fail(
    3011,
    `storage_data_folder: sessions may not use ${JSON.stringify(folder.slice(0, 256))}: the server's config allows other folders (session_folders)`,
    { path: 'storage_data_folder' },
  );
}
