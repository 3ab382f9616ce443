import { type FSWatcher, watch } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** Types of file systems that tell no changes made by other machines or through other mounts: statfs(2) of Linux. */
const untoldTypes: ReadonlySet<number> = new Set([
  0x6969, // NFS
  0x517b, // SMB
  0xfe534d42, // SMB 2
  0xff534d42, // CIFS
  0x65735546, // FUSE, as sshfs
  0x01021997, // 9p
  0x00c36400, // Ceph
  0x5346414f, // AFS
  0x73757245, // Coda
  0x786f4256, // shared folders of VirtualBox
  0x0bd00bd0, // Lustre
]);

/** Whether changes of a folder may come without events. */
export async function isUntold(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const found = await statfs(folder).catch(() => undefined);
  return found !== undefined && untoldTypes.has(found.type >>> 0);
}

interface Watched {
  watcher: FSWatcher;
  id: string;
}

/**
 * Tells that something below a folder may have changed. On Linux it watches each folder: the kernel has no watch of trees. `onLost` is
 * told once if the system watches no more folders: changes then come without events.
 */
export class FolderEvents {
  readonly #root: string;
  readonly #onEvent: () => void;
  readonly #onLost: (reason: NodeJS.ErrnoException) => void;
  readonly #watched = new Map<string, Watched>();
  #lost = false;

  constructor(root: string, onEvent: () => void, onLost: (reason: NodeJS.ErrnoException) => void) {
    this.#root = root;
    this.#onEvent = onEvent;
    this.#onLost = onLost;
  }

  /** Watches exactly these folders, ids by relative path. Returns whether one is new: it may have changed before. */
  watch(folders: ReadonlyMap<string, string>): boolean {
    const wanted = process.platform === 'linux' ? folders : new Map([['', folders.get('') ?? '']]);
    for (const [path, { id, watcher }] of this.#watched) {
      if (wanted.get(path) === id) continue;
      watcher.close();
      this.#watched.delete(path);
    }
    let isNew = false;
    for (const [path, id] of wanted) {
      if (this.#lost || this.#watched.has(path)) continue;
      isNew = this.#add(path, id) || isNew;
    }
    return isNew;
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  #add(path: string, id: string): boolean {
    try {
      const watcher = watch(
        join(this.#root, path),
        { persistent: false, recursive: process.platform !== 'linux' },
        this.#onEvent,
      );
      watcher.on('error', () => {
        watcher.close();
        this.#watched.delete(path);
        this.#onEvent();
      });
      this.#watched.set(path, { watcher, id });
      return true;
    } catch (error) {
      const reason = error as NodeJS.ErrnoException;
      // A folder that is gone by now: its parent has an event.
      if (reason.code === 'ENOENT' || reason.code === 'ENOTDIR') return true;
      this.#lost = true;
      this.#onLost(reason);
      return false;
    }
  }
}
