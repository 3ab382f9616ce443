import { close, existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Folder of the process's open files on Linux; absent elsewhere. */
const openFiles = '/proc/self/fd';
const hasNames = existsSync(openFiles);

/**
 * Keeps descriptors open and gives each a name that refers to the open file: opening the name opens the file that was
 * checked, even if its path has been replaced. Without such names on a system, returns the paths.
 */
export class HeldFiles {
  readonly #descriptors: number[] = [];
  /** The names returned so far, with their paths. */
  readonly #shown = new Map<string, string>();

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
    const name = join(openFiles, `none-${this.#shown.size}`, basename(path));
    this.#shown.set(name, path);
    this.#shown.set(dirname(name), dirname(path));
    return name;
  }

  /** Replaces the names in a text by their paths. */
  shown(text: string): string {
    // Longest first: one name may be a prefix of another.
    const names = [...this.#shown].sort(([a], [b]) => b.length - a.length);
    return names.reduce((result, [name, path]) => result.replaceAll(name, path), text);
  }

  async close(): Promise<void> {
    await Promise.all(this.#descriptors.splice(0).map((descriptor) => promisify(close)(descriptor)));
  }

  #hold(descriptor: number, path: string): string | undefined {
    if (descriptor < 0) return undefined;
    this.#descriptors.push(descriptor);
    if (!hasNames) return undefined;
    const name = `${openFiles}/${descriptor}`;
    this.#shown.set(name, path);
    return name;
  }
}
