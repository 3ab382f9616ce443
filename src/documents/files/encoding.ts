import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { UnreadableDocument } from '../document.js';
import { encodingByLetters } from './encoding-by-letters.js';
import { singleByteDecoder } from './single-bytes.js';

/** Bytes in which a NUL makes a file binary. */
const headBytes = 8000;

/** Bytes that are looked at to tell the encoding of a text that is not UTF-8. */
const sampleBytes = 64 * 1024;

/** A detector that is less sure than this, in per cent, has seen too little. */
const leastConfidence = 25;

/** The encoding of most texts without a declaration that are not UTF-8. */
const usual = 'windows-1252';

const isBinary = () => new UnreadableDocument('is a binary file, not text');

const utf32Marks = [Buffer.from([0xff, 0xfe, 0, 0]), Buffer.from([0, 0, 0xfe, 0xff])];

/** The encoding that a byte order mark names, or that the bytes of UTF-16 show; else undefined. */
export function markedEncoding(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' | undefined {
  const [first, second, third] = bytes;
  if (utf32Marks.some((mark) => bytes.subarray(0, 4).equals(mark)))
    throw new UnreadableDocument('is UTF-32, which nothing else reads; save it as UTF-8');
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
  if (odd === 0 && even > most * 0.4) return 'utf-16be';
  return head.some(isControl) ? unmarkedUtf16(head) : undefined;
}

/** Control characters that texts of one byte or of several do not have. */
const isControl = (byte: number) => byte < 9 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b);

/** Spaces, ends of lines, and the punctuation of East Asia: in the other order of bytes, they are rare characters. */
const frequent = /[ \n\r\t\u3000-\u3002\uFF0C\u0964\u060C]/g;

/** Characters of texts. */
const ofText = /[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\n\r\t\f\u200B-\u200F]/gu;

/** Tells UTF-16 of scripts whose characters have no NUL bytes: most characters are letters, and spaces or punctuation are in one order. */
function unmarkedUtf16(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  let best: { encoding: 'utf-16le' | 'utf-16be'; count: number } | undefined;
  for (const [high, encoding] of [
    [1, 'utf-16le'],
    [0, 'utf-16be'],
  ] as const) {
    const text = new TextDecoder(encoding).decode(head).replace(/\uFFFD$/, '');
    // A script has few high bytes and many low ones.
    const isOfScript = distinct(head, high) * 2 < distinct(head, 1 - high);
    const count = (text.match(frequent)?.length ?? 0) + (isOfScript ? 0.5 : 0);
    const known = text.match(ofText)?.join('').length ?? 0;
    const isText = known >= text.length * leastKnown && !text.includes('\uFFFD');
    if (isText && count > (best?.count ?? 0)) best = { encoding, count };
  }
  return best?.encoding;
}

const distinct = (bytes: Buffer, from: number) => new Set(bytes.filter((_, at) => at % 2 === from)).size;

/** Least share of the characters of a text that are letters, digits, punctuation and spaces. */
const leastKnown = 0.98;

interface Detector {
  analyse(bytes: Uint8Array): { name: string; confidence: number }[];
}

let detector: Detector | undefined;

/** Loaded with the first text that is not UTF-8. */
function loadDetector(): Detector {
  detector ??= createRequire(import.meta.url)('chardet') as Detector;
  return detector;
}

/** Characters beyond ASCII of UTF-8 for each byte that is none. Other encodings have no such characters but by chance. */
const leastValid = 3;

/** Whether a text is UTF-8 but for some bytes, as of two files that were joined, or of one that was cut. */
function isDamagedUtf8(bytes: Buffer): boolean {
  const text = bytes.toString('utf8');
  const damaged = text.match(/\uFFFD/g)?.length ?? 0;
  const beyondAscii = (text.match(/[^\0-\x7f]/gu)?.length ?? 0) - damaged;
  return beyondAscii >= leastValid * damaged;
}

/** Returns the encoding of a text that is not UTF-8: by its letters, else Windows-1252. `from`: where to begin looking. */
export function detectedEncoding(bytes: Buffer, from = 0): string {
  const sample = bytes.subarray(from, from + sampleBytes);
  if (isDamagedUtf8(sample)) return 'utf-8';
  const byLetters = encodingByLetters(sample);
  if (byLetters !== undefined) return byLetters;
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

/** Returns a function that decodes a text piece by piece; the last call is without a piece. */
export function pieceDecoder(encoding: string): (piece?: Buffer) => string {
  const single = singleByteDecoder(encoding);
  if (single !== undefined) return (piece = Buffer.alloc(0)) => single(piece);
  const decoder = new TextDecoder(encoding);
  if (decoder.encoding === 'windows-1252') return pieceDecoder(decoder.encoding);
  const decoded = (piece?: Buffer) =>
    piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
  // Vietnamese letters have the marks of their tones behind them there.
  return decoder.encoding === 'windows-1258' ? (piece) => decoded(piece).normalize('NFC') : decoded;
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
  if (isUtf8(bytes)) return decode(bytes, escapes(bytes) ? 'iso-2022-jp' : 'utf-8');
  return decode(bytes, detectedEncoding(bytes, firstOther(bytes)));
}

/** Whether a text changes to Japanese by escape sequences, as ISO-2022-JP does. All of its bytes are ASCII. */
function escapes(bytes: Buffer): boolean {
  const at = bytes.indexOf('\x1b$');
  return at >= 0 && (bytes[at + 2] === 0x40 || bytes[at + 2] === 0x42);
}

/** Some bytes before the first one that is not ASCII. */
function firstOther(bytes: Buffer): number {
  const before = 2000;
  const found = bytes.findIndex((byte) => byte >= 0x80);
  return Math.max(0, found - before);
}

/** Bytes in which a page may declare its encoding. Browsers look for it in 1,024 bytes first, and obey a later one, too. */
const declarationBytes = 16 * 1024;

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
  let isAscii = true;
  for await (const piece of pieces) {
    if (utf8 === undefined) {
      const marked = markedEncoding(piece);
      if (marked !== undefined && marked !== 'utf-8') return marked;
      utf8 = new TextDecoder('utf-8', { fatal: true });
    }
    if (piece.includes(0)) throw isBinary();
    try {
      if (/[^\0-\x7f]/.test(utf8.decode(piece, { stream: true }))) isAscii = false;
    } catch {
      return detectedEncoding(piece, firstOther(piece));
    }
  }
  try {
    utf8?.decode();
  } catch {
    return isAscii ? usual : 'utf-8'; // cut within a character
  }
  return 'utf-8';
}
