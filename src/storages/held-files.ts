import { constants } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Where Linux shows what a process has open; elsewhere the folder is absent. */
const openFiles = '/proc/self/fd';

/** Throws unless an open file may be used: `realPath` is where it really is, undefined where the system does not tell. */
export type OpenFileCheck = (realPath: string | undefined, isFile: boolean) => void;

/**
 * Files kept open, and named by what is open rather than by their paths: who opens such a name gets the very file that was
 * checked, whatever has been put in its place meanwhile. Where the system has no such names, paths are given back as they are.
 */
export class HeldFiles {
  readonly #handles: FileHandle[] = [];
  /** Names given out and the paths that they stand for. */
  readonly #shown = new Map<string, string>();

  /** A name for the file at a real path. @throws what `check` throws; errors of the file system (ELOOP: now a link) */
  async hold(path: string, check: OpenFileCheck): Promise<string> {
    return this.#hold(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, check);
  }

  /** A name for a file that is to be written, in a folder that exists. @throws as hold() */
  async holdPlace(path: string, check: OpenFileCheck): Promise<string> {
    const folder = dirname(path);
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;
    return join(await this.#hold(folder, flags, check), basename(path));
  }

  /** A text for people: with paths in place of the names given out. */
  shown(text: string): string {
    // Longest first: one name may start like another.
    const names = [...this.#shown].sort(([a], [b]) => b.length - a.length);
    return names.reduce((result, [name, path]) => result.replaceAll(name, path), text);
  }

  async close(): Promise<void> {
    await Promise.all(this.#handles.splice(0).map((handle) => handle.close()));
  }

  async #hold(path: string, flags: number, check: OpenFileCheck): Promise<string> {
    const handle = await open(path, flags);
    this.#handles.push(handle);
    const name = `${openFiles}/${handle.fd}`;
    const real = await readlink(name).catch(() => undefined);
    check(real, (await handle.stat()).isFile());
    if (real === undefined) return path;
    this.#shown.set(name, path);
    return name;
  }
}
