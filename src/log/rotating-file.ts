import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Rotation {
  /** Largest size of a file in bytes. */
  maxBytes: number;
  /** Files kept, the current one included. */
  files: number;
}

/**
 * `NAME.log` in a folder; a file that would grow too large becomes `NAME.1.log`, that one `NAME.2.log`, and so on. A
 * file that somebody removes or renames is made anew, so that other tools, and a second server with the same folder,
 * may rotate it too.
 */
export class RotatingFile {
  readonly path: string;
  readonly #folder: string;
  readonly #name: string;
  readonly #rotation: Rotation | undefined;
  #descriptor: number | undefined;
  #bytes = 0;
  /** Whether the file ends within a line: the disk was full, or a writer was killed. */
  #torn = false;

  /** Without `rotation` the file grows. @throws system errors */
  constructor(folder: string, name: string, rotation?: Rotation) {
    this.#folder = folder;
    this.#name = name;
    this.#rotation = rotation;
    this.path = join(folder, `${name}.log`);
    this.#open();
  }

  /** Writes complete lines, none of them split between files. @throws system errors; a part may have been written */
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
      if (written > 0) this.#torn = bytes[written - 1] !== newline;
      throw error;
    } finally {
      this.#bytes += written;
    }
  }

  #rotate(): void {
    this.close();
    const last = (this.#rotation?.files ?? 1) - 1;
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
      const there = statSync(this.path, { throwIfNoEntry: false });
      if (there?.ino === fstatSync(this.#descriptor).ino) {
        this.#bytes = there.size;
        return;
      }
      this.close();
    }
    this.#open();
  }

  #open(): void {
    this.#descriptor = openSync(this.path, 'a');
    this.#bytes = fstatSync(this.#descriptor).size;
    this.#torn = this.#bytes > 0 && lastByte(this.path, this.#bytes) !== newline;
  }
}

const newline = 0x0a;

/** The byte before `end`; a newline for a file that may be written and not read. */
function lastByte(path: string, end: number): number | undefined {
  const byte = Buffer.alloc(1, newline);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, byte, 0, 1, end - 1);
    } finally {
      closeSync(file);
    }
  } catch {
    return newline;
  }
  return byte[0];
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
