import { inflateRawSync } from 'node:zlib';
import { UnreadableDocument } from '../../document.js';

/** Most bytes of all parts together, unpacked. */
const maxUnpacked = 256 * 2 ** 20;

const maxParts = 65_535;
const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const localMark = 0x04034b50;

/** Bytes of the fixed parts of an archive's end, entries and local heads. */
const endBytes = 22;
const entryBytes = 46;
const localBytes = 30;
const longestComment = 65_535;

interface Part {
  method: number;
  packed: number;
  offset: number;
  isEncrypted: boolean;
}

/** The parts of a ZIP archive. What it unpacks to is bounded. @throws UnreadableDocument */
export class ZipArchive {
  readonly #bytes: Buffer;
  readonly #parts = new Map<string, Part>();
  #left = maxUnpacked;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    try {
      this.#readDirectory();
    } catch (cause) {
      if (cause instanceof UnreadableDocument) throw cause;
      throw new UnreadableDocument('is not a readable archive: its directory is damaged', { cause });
    }
  }

  get names(): string[] {
    return [...this.#parts.keys()];
  }

  /** Unpacks a part as UTF-8; undefined if it is absent. */
  text(name: string): string | undefined {
    const bytes = this.bytes(name);
    if (bytes === undefined) return undefined;
    const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
    return new TextDecoder(isWide ? 'utf-16le' : 'utf-8').decode(bytes);
  }

  bytes(name: string): Buffer | undefined {
    const part = this.#parts.get(name);
    if (part === undefined) return undefined;
    if (part.isEncrypted) throw new UnreadableDocument('is protected by a password');
    const { method, packed, offset } = part;
    if (offset + localBytes > this.#bytes.length || this.#bytes.readUInt32LE(offset) !== localMark)
      throw damaged(name);
    const begin =
      offset + localBytes + this.#bytes.readUInt16LE(offset + 26) + this.#bytes.readUInt16LE(offset + 28);
    const data = this.#bytes.subarray(begin, begin + packed);
    const unpacked = method === 0 ? data : this.#inflated(name, method, data);
    this.#left -= unpacked.length;
    if (this.#left < 0) throw tooLarge();
    return unpacked;
  }

  #inflated(name: string, method: number, data: Buffer): Buffer {
    if (method !== 8) throw damaged(name);
    try {
      return inflateRawSync(data, { maxOutputLength: Math.max(1, this.#left) });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
      throw damaged(name);
    }
  }

  #readDirectory(): void {
    const bytes = this.#bytes;
    const end = this.#findEnd();
    const count = Math.min(bytes.readUInt16LE(end + 10), maxParts);
    let at = bytes.readUInt32LE(end + 16);
    for (let part = 0; part < count && at + entryBytes <= bytes.length; part++) {
      if (bytes.readUInt32LE(at) !== entryMark) return;
      const [name, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field)) as [
        number,
        number,
        number,
      ];
      this.#parts.set(bytes.toString('utf8', at + entryBytes, at + entryBytes + name), {
        isEncrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
        method: bytes.readUInt16LE(at + 10),
        packed: bytes.readUInt32LE(at + 20),
        offset: bytes.readUInt32LE(at + 42),
      });
      at += entryBytes + name + extra + comment;
    }
  }

  #findEnd(): number {
    const bytes = this.#bytes;
    const first = Math.max(0, bytes.length - endBytes - longestComment);
    for (let at = bytes.length - endBytes; at >= first; at--)
      if (bytes.readUInt32LE(at) === endMark) return at;
    // Password-protected files of Office are of another kind.
    const isOle = bytes.length > 8 && bytes.readUInt32BE(0) === 0xd0cf11e0;
    throw new UnreadableDocument(
      isOle
        ? 'is protected by a password, or of an old format; save it as a new one'
        : 'is not a readable archive',
    );
  }
}

const damaged = (name: string) => new UnreadableDocument(`is damaged: its part ${JSON.stringify(name)}`);

const tooLarge = () => new UnreadableDocument(`unpacks to more than ${maxUnpacked / 2 ** 20} MiB`);
