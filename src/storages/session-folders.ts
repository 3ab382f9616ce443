import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { fail } from '../protocol/errors.js';
import { type OwnFiles, StorageRoot } from './storage-root.js';

export interface SessionFolderOptions {
  /** Absolute. */
  storageRoot: string;
  /** Beside those inside the storage root: any, or those inside these folders, which are absolute. */
  open: 'any' | 'storage_root' | readonly string[];
  own: OwnFiles;
  /** Whether opening a storage writes nothing. */
  readOnly?: boolean | undefined;
}

/** Which folders sessions may bring as their storage roots. */
export class SessionFolders {
  readonly #options: SessionFolderOptions;
  /** That of sessions without a folder of their own. */
  readonly root: StorageRoot;

  constructor(options: SessionFolderOptions) {
    this.#options = options;
    this.root = new StorageRoot(options.storageRoot, options);
  }

  /**
   * The root of a session that brings a folder; a relative one starts at the storage root. The folder may be absent.
   * @throws SessionFolderRefused, in the same way for folders that exist and for those that do not
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

/** The path from an allowed folder, by either of its names; nothing outside is looked at. */
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
