// Gives files right checksums, by a program of our own checksum code.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../harness/cache.mjs';
import { compiled } from '../trace/compile.mjs';

const vendor = join(root, 'native', 'vendor', 'llama.cpp', 'vendor', 'hash', 'xxhash');
const includes = [join(root, 'native'), join(root, 'test', 'native'), vendor].map((folder) => `-I${folder}`);
const sources = [join(import.meta.dirname, 'mend.cc'), join(root, 'native', 'core', 'values', 'checksum.cc')];

/** The program, compiled. @throws where there is no compiler */
export const menderProgram = () => compiled(sources, includes);

export class Mender {
  #child;
  #waiting = [];
  #bytes = Buffer.alloc(0);

  constructor(program) {
    this.#child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout.on('data', (chunk) => this.#take(chunk));
    this.#child.unref();
  }

  mend(bytes) {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    this.#child.stdin.write(Buffer.concat([size, bytes]));
    return new Promise((mended) => this.#waiting.push(mended));
  }

  close() {
    this.#child.stdin.end();
  }

  #take(chunk) {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= 4) {
      const end = 4 + this.#bytes.readUInt32LE();
      if (this.#bytes.length < end) return;
      this.#waiting.shift()(Buffer.from(this.#bytes.subarray(4, end)));
      this.#bytes = this.#bytes.subarray(end);
    }
  }
}
