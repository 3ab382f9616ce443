import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LorekeepError } from '../../../lib/index.js';
import { renameOver } from '../../../lib/os/regular-file.js';
import { checkOwnRecords } from '../own-records.js';

/** Bytes that are collected before they are written. */
const writeBytes = 1024 * 1024;

const ownTemporary = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** Writes a records file, one record per line, under a temporary name, and then renames it into place. */
export class RecordsWriter implements AsyncDisposable {
  readonly #path: string;
  readonly #temporary: string;
  readonly #file: FileHandle;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #position = 0;
  #isFirst = true;
  #isOpen = true;

  private constructor(path: string, temporary: string, file: FileHandle) {
    this.#path = path;
    this.#temporary = temporary;
    this.#file = file;
  }

  /** @throws system errors. Temporary files of killed writers are removed; the caller holds the folder's lock. */
  static async open(path: string): Promise<RecordsWriter> {
    await checkOwnRecords(path);
    for (const name of await readdir(dirname(path))) {
      if (name.startsWith(`${basename(path)}.`) && ownTemporary.test(name))
        await rm(join(dirname(path), name));
    }
    const temporary = `${path}.${randomUUID()}.tmp`;
    const writer = new RecordsWriter(path, temporary, await open(temporary, 'wx'));
    await writer.#write(Buffer.from('['));
    return writer;
  }

  /** Begins the records of a file and returns where they begin. */
  begin(): number {
    return this.#position + (this.#isFirst ? '\n'.length : ',\n'.length);
  }

  /** Where the records written so far end. */
  get end(): number {
    return this.#position;
  }

  async add(record: object): Promise<void> {
    await this.#separate();
    await this.#write(Buffer.from(JSON.stringify(record)));
  }

  /** Copies records from another records file. */
  async copy(source: FileHandle, begin: number, end: number): Promise<void> {
    await this.#separate();
    for (let at = begin; at < end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(writeBytes, end - at));
      const { bytesRead } = await source.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw new Error(`${this.#path}: is shorter than its list of files states`);
      await this.#write(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
  }

  /** Completes the file and puts it into place. */
  async finish(): Promise<void> {
    await this.#write(Buffer.from('\n]\n'));
    await this.#flush();
    await this.#file.sync();
    await this.#file.close();
    this.#isOpen = false;
    try {
      await renameOver(this.#temporary, this.#path, () => checkOwnRecords(this.#path));
    } catch (error) {
      await rm(this.#temporary, { force: true });
      throw error;
    }
  }

  /** Removes an unfinished file. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return;
    await this.#file.close();
    await rm(this.#temporary, { force: true });
  }

  async #separate(): Promise<void> {
    await this.#write(Buffer.from(this.#isFirst ? '\n' : ',\n'));
    this.#isFirst = false;
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#position += bytes.length;
    if (this.#pendingBytes >= writeBytes) await this.#flush();
  }

  async #flush(): Promise<void> {
    const all = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    try {
      for (let at = 0; at < all.length; ) {
        const { bytesWritten } = await this.#file.write(all, at, all.length - at);
        at += bytesWritten;
      }
    } catch (cause) {
      const reason = `cannot be written: ${(cause as Error).message}`;
      throw LorekeepError.about('IO', { file: this.#path, reason }, { cause });
    }
  }
}
