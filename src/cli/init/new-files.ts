import { constants } from 'node:fs';
import { copyFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../../../lib/basics.js';

/** Creates files in a folder without overwriting any: all or none. */
export class NewFiles {
  readonly names: string[] = [];
  readonly #folder: string;
  readonly #madeFolders: string[] = [];

  constructor(folder: string) {
    this.#folder = resolve(folder);
  }

  /** `name` is relative to the folder. @throws system errors; EEXIST if the file exists */
  async write(name: string, text: string): Promise<void> {
    await writeFile(this.#place(name), text, { flag: 'wx' }).catch((error) => this.#refused(error));
  }

  /** Like write(), with the content of another file. */
  async copy(source: string, name: string): Promise<void> {
    await copyFile(source, this.#place(name), constants.COPYFILE_EXCL).catch((error) => this.#refused(error));
  }

  /** Removes the created files, and the created folders that are then empty. */
  async remove(): Promise<void> {
    for (const name of this.names) await rm(join(this.#folder, name), { force: true }).catch(() => {});
    for (const path of this.#madeFolders.reverse()) await rmdir(path).catch(() => {});
    this.names.length = 0;
  }

  #place(name: string): string {
    const path = join(this.#folder, name);
    this.#madeFolders.push(...makeFolder(dirname(path)));
    this.names.push(name);
    return path;
  }

  #refused(error: NodeJS.ErrnoException): never {
    // Not empty: it holds other files.
    if (error.code === 'EEXIST') this.names.pop();
    throw error;
  }
}
