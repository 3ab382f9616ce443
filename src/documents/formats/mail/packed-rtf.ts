import { UnreadableDocument } from '../../document.js';

/** Most bytes of an unpacked text. */
const longest = 64 * 2 ** 20;

const headBytes = 16;
const marks = { packed: 0x75465a4c, plain: 0x414c454d } as const;

/** The text that the window of each packed one begins with. */
const prefix = Buffer.from(
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx',
  'latin1',
);

const windowBytes = 4096;

/** Unpacks the Rich Text of Outlook: LZ77 with a window of 4 KiB that begins with common words. @throws UnreadableDocument */
export function unpackedRtf(packed: Buffer): Buffer {
  if (packed.length < headBytes) throw damaged();
  const length = packed.readUInt32LE(4);
  const mark = packed.readUInt32LE(8);
  if (length > longest) throw new UnreadableDocument('its text is too long');
  if (mark === marks.plain) return packed.subarray(headBytes, headBytes + length);
  if (mark !== marks.packed) throw damaged();
  return new Unpacker(packed, length).run();
}

const damaged = () => new UnreadableDocument('is damaged: its packed text');

class Unpacker {
  readonly #packed: Buffer;
  readonly #window = Buffer.alloc(windowBytes, ' ');
  readonly #out: Buffer;
  #length = 0;
  #at = prefix.length;

  constructor(packed: Buffer, length: number) {
    this.#packed = packed;
    // A file may state a length that it has not.
    this.#out = Buffer.alloc(Math.min(length, packed.length * 18));
    prefix.copy(this.#window);
  }

  run(): Buffer {
    const packed = this.#packed;
    for (let at = headBytes; at < packed.length; ) {
      const flags = packed[at++] as number;
      for (let bit = 0; bit < 8 && at < packed.length; bit++) {
        if (((flags >> bit) & 1) === 0) this.#add(packed[at++] as number);
        else {
          if (at + 1 >= packed.length) return this.#whole();
          const pair = packed.readUInt16BE(at);
          at += 2;
          const from = pair >> 4;
          if (from === this.#at) return this.#whole();
          for (let index = 0; index < (pair & 15) + 2; index++)
            this.#add(this.#window[(from + index) % windowBytes] as number);
        }
      }
    }
    return this.#whole();
  }

  #whole(): Buffer {
    return this.#out.subarray(0, this.#length);
  }

  #add(byte: number): void {
    this.#window[this.#at] = byte;
    this.#at = (this.#at + 1) % windowBytes;
    if (this.#length < this.#out.length) this.#out[this.#length++] = byte;
  }
}
