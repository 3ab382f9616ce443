import { OwnFile } from '../../../lib/basics.js';
import { stringifyWithWideIntegers } from '../../base/schema/wide-integers.js';
import { checkOwnRecords } from '../own-records.js';
import { isForgotten } from './forgotten.js';
import type { KeptRecord } from './kept-records.js';

/** Bytes that are collected before they are written. */
const writeBytes = 1024 * 1024;

/** A record of a file. */
export interface FolderRecord {
  id: string;
  text: string;
  metadata: Record<string, unknown>;
}

/** A FileHandle of Node.js, without its types in the public declarations. */
interface ReadableAt {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/** Writes a records file, one record per line. */
export class RecordsWriter implements AsyncDisposable {
  readonly #path: string;
  readonly #file: OwnFile;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #position = 0;
  #isFirst = true;
  readonly #ids = new Set<string>();

  readonly #forgotten: ReadonlySet<string>;

  private constructor(path: string, file: OwnFile, forgotten: ReadonlySet<string>) {
    this.#path = path;
    this.#file = file;
    this.#forgotten = forgotten;
  }

  /** `forgotten`: digests of texts that add() leaves out. @throws IO; INVALID_ARGUMENT for a file that is not ours */
  static async open(path: string, forgotten: ReadonlySet<string>): Promise<RecordsWriter> {
    const writer = new RecordsWriter(path, await OwnFile.open(path, () => checkOwnRecords(path)), forgotten);
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

  /** Returns false for a record with a forgotten text, which is left out. */
  async add(record: FolderRecord): Promise<boolean> {
    if (isForgotten(this.#forgotten, record.text)) return false;
    this.#ids.add(record.id);
    await this.#separate();
    await this.#write(Buffer.from(stringifyWithWideIntegers(record)));
    return true;
  }

  /** Writes a record that no file gave. Returns false if a file gave one with its id. */
  async keep({ id, json }: KeptRecord): Promise<boolean> {
    if (this.#ids.has(id)) return false;
    await this.#separate();
    await this.#write(Buffer.from(json));
    return true;
  }

  /** Copies records from another records file. */
  async copy(source: ReadableAt, begin: number, end: number): Promise<void> {
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
