import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { UnreadableDocument } from '../document.js';

/** Bytes in which a NUL makes a file binary. */
const headBytes = 8000;

/** Bytes that are looked at to tell the encoding of a text that is not UTF-8. */
const sampleBytes = 64 * 1024;

/** A detector that is less sure than this, in per cent, has seen too little. */
const leastConfidence = 25;

/** The encoding of most texts without a declaration that are not UTF-8. */
const usual = 'windows-1252';

const isBinary = () => new UnreadableDocument('is a binary file, not text');

/** The encoding that a byte order mark names, or that the NUL bytes of UTF-16 show; else undefined. */
export function markedEncoding(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' | undefined {
  const [first, second, third] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  const head = bytes.subarray(0, headBytes - (headBytes % 2));
  if (head.length < 8) return undefined;
  let [even, odd] = [0, 0];
  for (let at = 0; at + 1 < head.length; at += 2) {
    if (head[at] === 0) even++;
    if (head[at + 1] === 0) odd++;
  }
  const most = head.length / 2;
  if (even === 0 && odd > most * 0.4) return 'utf-16le';
  return odd === 0 && even > most * 0.4 ? 'utf-16be' : undefined;
}

interface Detector {
  analyse(bytes: Uint8Array): { name: string; confidence: number }[];
}

let detector: Detector | undefined;

/** Loaded with the first text that is not UTF-8. */
function loadDetector(): Detector {
  detector ??= createRequire(import.meta.url)('chardet') as Detector;
  return detector;
}

/** Returns the encoding of a text that is not UTF-8: by its letters, else Windows-1252. `from`: where to begin looking. */
export function detectedEncoding(bytes: Buffer, from = 0): string {
  const sample = bytes.subarray(from, from + sampleBytes);
  const [best] = loadDetector().analyse(sample);
  if (best === undefined || best.confidence < leastConfidence) return usual;
  const name = best.name.toLowerCase();
  if (name === 'iso-8859-1' || name === 'ascii' || name.startsWith('utf-32')) return usual;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return usual; // an encoding that Node.js has not
  }
}

/** Windows-1252 from 0x80 on. Some versions of Node.js decode these bytes as Latin-1; the others give no such character. */
const windowsCharacters = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const windowsCharacter = (character: string) => windowsCharacters[character.charCodeAt(0) - 0x80] as string;

/** Returns a function that decodes a text piece by piece; the last call is without a piece. */
export function pieceDecoder(encoding: string): (piece?: Buffer) => string {
  const decoder = new TextDecoder(encoding);
  const isWindows = decoder.encoding === 'windows-1252';
  return (piece) => {
    const text = piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
    return isWindows ? text.replace(/[\x80-\x9f]/g, windowsCharacter) : text;
  };
}

function decode(bytes: Buffer, encoding: string): string {
  const decoded = pieceDecoder(encoding);
  return decoded(bytes) + decoded();
}

/** Decodes UTF-8, UTF-16, or another encoding that is told by its letters. @throws UnreadableDocument for binary content */
export function decodeText(bytes: Buffer): string {
  const marked = markedEncoding(bytes);
  if (marked === undefined && bytes.subarray(0, headBytes).includes(0)) throw isBinary();
  if (marked !== undefined && marked !== 'utf-8') return decode(bytes, marked);
  if (isUtf8(bytes)) return decode(bytes, 'utf-8');
  return decode(bytes, detectedEncoding(bytes, firstOther(bytes)));
}

/** Some bytes before the first one that is not ASCII. */
function firstOther(bytes: Buffer): number {
  const before = 2000;
  const found = bytes.findIndex((byte) => byte >= 0x80);
  return Math.max(0, found - before);
}

/** Browsers look for a declared encoding in this many bytes. */
const declarationBytes = 1024;

/** Decodes an HTML page: UTF-8 or UTF-16, else the encoding that the page declares, else as decodeText(). @throws UnreadableDocument */
export function decodeHtml(bytes: Buffer): string {
  const head = bytes.subarray(0, declarationBytes).toString('latin1');
  const declared = /<(?:meta|\?xml)\b[^>]*(?:charset|encoding)\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1];
  if (declared === undefined || isUtf8(bytes) || markedEncoding(bytes) !== undefined)
    return decodeText(bytes);
  try {
    new TextDecoder(declared, { fatal: true }).decode(bytes);
    return decode(bytes, declared);
  } catch {
    return decodeText(bytes); // an unknown encoding, or not this one
  }
}

/** Returns the encoding of a text that is read in pieces. @throws UnreadableDocument for binary content */
export async function encodingOfPieces(pieces: AsyncIterable<Buffer>): Promise<string> {
  let utf8: InstanceType<typeof TextDecoder> | undefined;
  for await (const piece of pieces) {
    if (utf8 === undefined) {
      const marked = markedEncoding(piece);
      if (marked !== undefined && marked !== 'utf-8') return marked;
      utf8 = new TextDecoder('utf-8', { fatal: true });
    }
    if (piece.includes(0)) throw isBinary();
    try {
      utf8.decode(piece, { stream: true });
    } catch {
      return detectedEncoding(piece, firstOther(piece));
    }
  }
  try {
    utf8?.decode();
  } catch {
    return usual;
  }
  return 'utf-8';
}
