import { close, existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

/** Where Linux shows what a process has open; elsewhere the folder is absent. */
const openFiles = '/proc/self/fd';
const hasNames = existsSync(openFiles);

/**
 * Descriptors kept open, and named by what is open rather than by paths: who opens such a name gets the very file that was
 * checked, whatever has been put in its place meanwhile. Where the system has no such names, paths are given as they are.
 */
export class HeldFiles {
  readonly #descriptors: number[] = [];
  /** Names given out and the paths that they stand for. */
  readonly #shown = new Map<string, string>();

  /** A name for an open file, whose real path is `path`. The descriptor is closed with the others. */
  file(descriptor: number, path: string): string {
    return this.#hold(descriptor, path) ?? path;
  }

  /** A name for a file that is to be written to an open folder. */
  place(folder: number, path: string): string {
    const name = this.#hold(folder, join(path, '..'));
    return name === undefined ? path : join(name, basename(path));
  }

  /** A name that leads nowhere, for a file whose folder is absent. */
  nowhere(path: string): string {
    const name = join(openFiles, 'none', String(this.#shown.size), basename(path));
    this.#shown.set(name, path);
    return name;
  }

  /** A text for people: with paths in place of the names given out. */
  shown(text: string): string {
    // Longest first: one name may start like another.
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
