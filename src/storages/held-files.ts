import { close, existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Folder of the process's open files on Linux. Wine shows it too, on a drive, with the numbers of another process. */
const openFiles = '/proc/self/fd';
const hasNames = process.platform === 'linux' && existsSync(openFiles);

/**
 * Keeps descriptors open and gives each a name that refers to the open file: opening the name opens the file that was
 * checked, even if its path has been replaced. Without such names on a system, returns the paths.
 */
export class HeldFiles {
  readonly #descriptors: number[] = [];
  /** The names returned so far, with their paths. */
  readonly #paths = new Map<string, string>();

  /** Returns a name for an open file with the real path `path`. Takes over the descriptor. */
  file(descriptor: number, path: string): string {
    return this.#hold(descriptor, path) ?? path;
  }

  /** Returns a name for a file to be written to an open folder. */
  place(folder: number, path: string): string {
    const name = this.#hold(folder, join(path, '..'));
    return name === undefined ? path : join(name, basename(path));
  }

  /** Returns a name that cannot be opened, for a file in an absent folder. */
  nowhere(path: string): string {
    const name = join(openFiles, `none-${this.#paths.size}`, basename(path));
    this.#paths.set(dirname(name), dirname(path));
    return name;
  }

  /** Returns the path for a name, or for a name in a folder that has one; any other text as it is. */
  pathOf(name: string): string {
    const path = this.#paths.get(name);
    if (path !== undefined) return path;
    const folder = this.#paths.get(dirname(name));
    return folder === undefined ? name : join(folder, basename(name));
  }

  async close(): Promise<void> {
    await Promise.all(this.#descriptors.splice(0).map((descriptor) => promisify(close)(descriptor)));
  }

  #hold(descriptor: number, path: string): string | undefined {
    if (descriptor < 0) return undefined;
    this.#descriptors.push(descriptor);
    if (!hasNames) return undefined;
    const name = `${openFiles}/${descriptor}`;
    this.#paths.set(name, path);
    return name;
  }
}
