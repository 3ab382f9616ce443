import type { FileHandle } from 'node:fs/promises';
import { OwnFile } from '../../../lib/basics.js';
import { stringifyWithWideIntegers } from '../../base/schema/wide-integers.js';
import { checkOwnRecords } from '../own-records.js';

/** Bytes that are collected before they are written. */
const writeBytes = 1024 * 1024;

/** Writes a records file, one record per line. */
export class RecordsWriter implements AsyncDisposable {
  readonly #path: string;
  readonly #file: OwnFile;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #position = 0;
  #isFirst = true;

  private constructor(path: string, file: OwnFile) {
    this.#path = path;
    this.#file = file;
  }

  /** @throws IO; INVALID_ARGUMENT for a file that is not ours */
  static async open(path: string): Promise<RecordsWriter> {
    const writer = new RecordsWriter(path, await OwnFile.open(path, () => checkOwnRecords(path)));
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
    await this.#write(Buffer.from(stringifyWithWideIntegers(record)));
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
    await this.#file.commit();
  }

  /** Removes an unfinished file. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#file[Symbol.asyncDispose]();
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
    await this.#file.write(all);
  }
}
