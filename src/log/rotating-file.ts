import { closeSync, fstatSync, ftruncateSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { exact, fileId } from '../../lib/basics.js';
import { checkOwnLog, type IsLine, isLogLine, openOwnLog } from './own-log.js';

export interface Rotation {
  /** Largest size of a file in bytes. */
  maxBytes: number;
  /** Files kept, the current one included. */
  files: number;
}

/**
 * Writes `NAME.log` in a folder. A file that would grow too large becomes `NAME.1.log`, which becomes `NAME.2.log`, and so
 * on. A removed or renamed file is created again, so that other tools, or a second server, may rotate it too.
 */
export class RotatingFile {
  readonly path: string;
  readonly #folder: string;
  readonly #name: string;
  readonly #rotation: Rotation | undefined;
  readonly #isLine: IsLine;
  #descriptor: number | undefined;
  #bytes = 0;
  /** Whether the file ends with an incomplete line, after a crash or on a full disk. */
  #torn = false;

  /**
   * Without `rotation` the file grows without limit. Files that are not logs of ours are neither written nor replaced.
   * @throws system errors; an Error about a file that is not a log of ours
   */
  constructor(folder: string, name: string, rotation?: Rotation, isLine: IsLine = isLogLine) {
    this.#folder = folder;
    this.#name = name;
    this.#rotation = rotation;
    this.#isLine = isLine;
    this.path = join(folder, `${name}.log`);
    for (let number = 1; number < (rotation?.files ?? 0); number++)
      checkOwnLog(this.#numbered(number), isLine);
    this.#open();
  }

  /**
   * Writes complete lines, none split between files. @throws system errors; some lines may have been written, but none in
   * part
   */
  append(lines: readonly string[]): void {
    this.#reopen();
    let pending: string[] = [];
    let pendingBytes = 0;
    for (const line of lines) {
      const length = Buffer.byteLength(line);
      if (this.#isFull(pendingBytes + length)) {
        this.#write(pending.join(''));
        pending = [];
        pendingBytes = 0;
        if (this.#bytes > 0) this.#rotate();
      }
      pending.push(line);
      pendingBytes += length;
    }
    this.#write(pending.join(''));
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #isFull(more: number): boolean {
    return this.#rotation !== undefined && this.#bytes + more > this.#rotation.maxBytes;
  }

  #write(text: string): void {
    if (text === '') return;
    const bytes = Buffer.from(this.#torn ? `\n${text}` : text);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#descriptor as number, bytes, written);
      this.#torn = false;
    } catch (error) {
      written = this.#withoutHalfLine(bytes, written);
      throw error;
    } finally {
      this.#bytes += written;
    }
  }

  /** Removes a partly written last line, and returns the number of bytes kept. */
  #withoutHalfLine(bytes: Buffer, written: number): number {
    const whole = bytes.lastIndexOf(0x0a, written - 1) + 1;
    if (written === 0 || whole === written) return written;
    const file = this.#descriptor as number;
    const { size } = fstatSync(file);
    // Another process may have written meanwhile: keep its lines, and start the next one on a new line.
    this.#torn = size !== this.#bytes + written;
    if (this.#torn) return written;
    ftruncateSync(file, this.#bytes + whole);
    return whole;
  }

  #rotate(): void {
    const last = (this.#rotation?.files ?? 1) - 1;
    for (let number = 1; number <= last; number++) checkOwnLog(this.#numbered(number), this.#isLine);
    this.close();
    try {
      if (last === 0) rmSync(this.path, { force: true });
      else {
        for (let number = last; number > 0; number--)
          moveIfThere(this.#numbered(number - 1), this.#numbered(number));
      }
    } finally {
      this.#open();
    }
  }

  #numbered(number: number): string {
    return number === 0 ? this.path : join(this.#folder, `${this.#name}.${number}.log`);
  }

  #reopen(): void {
    if (this.#descriptor !== undefined) {
      const there = statSync(this.path, { throwIfNoEntry: false, ...exact });
      if (there !== undefined && fileId(there) === fileId(fstatSync(this.#descriptor, exact))) {
        this.#bytes = Number(there.size);
        return;
      }
      this.close();
    }
    this.#open();
  }

  #open(): void {
    const { file, size, torn } = openOwnLog(this.path, this.#isLine);
    this.#descriptor = file;
    this.#bytes = size;
    this.#torn = torn;
  }
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
