import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { exact, fileStamp, openRegular } from '../../../lib/basics.js';
import { LorekeepError } from '../../../lib/internal.js';
import { fail } from '../../protocol/errors.js';
import { isOutOfDescriptors } from '../../storages/failure.js';
import { readOpen, type TextSource } from './text-file.js';

/** A default list of the server, read at its first use and again when its file has changed. */
export class DefaultList<Item> {
  readonly #field: string;
  readonly #path: string;
  readonly #parse: (bytes: Buffer, source: TextSource) => Promise<Item[]>;
  #kept: { stamp: string; items: Promise<Item[]> } | undefined;

  /** `field`: the config field that names the file `path`. */
  constructor(field: string, path: string, parse: (bytes: Buffer, source: TextSource) => Promise<Item[]>) {
    this.#field = field;
    this.#path = path;
    this.#parse = parse;
  }

  /** `where`: the param that overrides the list. @throws DefaultListMissing, InvalidStringStorage */
  async load(where: string): Promise<Item[]> {
    const file = await this.#open(where);
    try {
      const stamp = fileStamp(await file.stat(exact));
      if (this.#kept?.stamp !== stamp) this.#keep(stamp, this.#read(file, where));
      return await (this.#kept as { items: Promise<Item[]> }).items;
    } finally {
      await file.close();
    }
  }

  #keep(stamp: string, items: Promise<Item[]>): void {
    const kept = { stamp, items };
    this.#kept = kept;
    items.catch(() => {
      if (this.#kept === kept) this.#kept = undefined;
    });
  }

  async #read(file: FileHandle, where: string): Promise<Item[]> {
    const source = { file: basename(this.#path), where: `${where} (${this.#field})` };
    return this.#parse(await readOpen(file, source), source);
  }

  async #open(where: string): Promise<FileHandle> {
    try {
      return await openRegular(this.#path);
    } catch (error) {
      if (isOutOfDescriptors(error)) throw error;
      const { code } = error as NodeJS.ErrnoException;
      const reason = error instanceof LorekeepError ? error.detail.reason : `cannot be read (${code})`;
      const state = code === 'ENOENT' ? 'does not exist' : reason;
      return fail(4011, `${where}: is missing, and the default file (${this.#field}) ${state}`, {
        path: where,
        field: this.#field,
      });
    }
  }
}
