import { UnreadableDocument } from '../../document.js';
import { unpackedRtf } from './packed-rtf.js';

/** A file that Outlook wrapped. */
interface WrappedFile {
  name: string;
  bytes: Buffer;
}

/** What a `winmail.dat` holds: Outlook's own form of a mail. */
export interface WrappedMail {
  /** The text, in the richest form that there is, with the name of a file of this kind. */
  body: WrappedFile | undefined;
  files: WrappedFile[];
}

const signature = 0x223e9f78;

/** Attributes of the format, with their types. */
const attribute = {
  body: 0x0002_800c,
  properties: 0x0006_9003,
  beginFile: 0x0006_9002,
  fileName: 0x0001_8010,
  fileData: 0x0006_800f,
  fileProperties: 0x0006_9005,
} as const;

/** Properties of MAPI. */
const property = { body: 0x1000, packedRtf: 0x1009, html: 0x1013, longName: 0x3707 } as const;

/** Most files, and most properties of one attribute. */
const mostFiles = 1000;
const mostProperties = 10_000;

export const isWrappedMail = (bytes: Buffer) => bytes.length > 6 && bytes.readUInt32LE(0) === signature;

/** Reads the Transport Neutral Encapsulation Format. @throws UnreadableDocument */
export function unwrapMail(bytes: Buffer): WrappedMail {
  try {
    return unwrapped(bytes);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UnreadableDocument('is damaged', { cause });
  }
}

function unwrapped(bytes: Buffer): WrappedMail {
  const mail: WrappedMail = { body: undefined, files: [] };
  for (let at = 6; at + 11 <= bytes.length; ) {
    const id = bytes.readUInt32LE(at + 1);
    const length = bytes.readUInt32LE(at + 5);
    const data = bytes.subarray(at + 9, at + 9 + length);
    if (data.length < length) throw new UnreadableDocument('is damaged: it breaks off');
    at += 9 + length + 2;
    const file = mail.files.at(-1);
    if (id === attribute.beginFile && mail.files.length < mostFiles)
      mail.files.push({ name: '', bytes: Buffer.alloc(0) });
    else if (id === attribute.body) mail.body ??= { name: 'body.txt', bytes: withoutEnd(data) };
    else if (id === attribute.properties) mail.body = bodyOf(propertiesOf(data)) ?? mail.body;
    else if (file === undefined) continue;
    else if (id === attribute.fileName) file.name ||= withoutEnd(data).toString('latin1');
    else if (id === attribute.fileData) file.bytes = data;
    else if (id === attribute.fileProperties)
      file.name = textOf(propertiesOf(data).get(property.longName)) || file.name;
  }
  mail.files = mail.files.filter(({ name, bytes }) => name !== '' && bytes.length > 0);
  return mail;
}

interface Value {
  readonly type: number;
  readonly bytes: Buffer;
}

function bodyOf(values: ReadonlyMap<number, Value>): WrappedFile | undefined {
  const html = values.get(property.html);
  if (html !== undefined) return { name: 'body.html', bytes: withoutEnd(html.bytes) };
  const packed = values.get(property.packedRtf);
  if (packed !== undefined) return { name: 'body.rtf', bytes: unpackedRtf(packed.bytes) };
  const text = textOf(values.get(property.body));
  return text === '' ? undefined : { name: 'body.txt', bytes: Buffer.from(text) };
}

function textOf(value: Value | undefined): string {
  if (value === undefined) return '';
  const text = value.bytes.toString(value.type === unicode ? 'utf16le' : 'latin1');
  return text.split('\0', 1)[0] as string;
}

const withoutEnd = (bytes: Buffer) => {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
};

const unicode = 0x1f;

/** Bytes of the values of a type, padded to four; undefined: the length is stated. */
const fixedBytes = new Map([
  ...[0x02, 0x03, 0x04, 0x0a, 0x0b].map((type) => [type, 4] as const),
  ...[0x05, 0x06, 0x07, 0x14, 0x40].map((type) => [type, 8] as const),
  [0x48, 16],
]);

const statedTypes = new Set([0x0d, 0x1e, unicode, 0x0102]);

const padded = (length: number) => length + ((4 - (length % 4)) % 4);

/** Reads the first values of properties, until one of an unknown type. */
function propertiesOf(data: Buffer): Map<number, Value> {
  const found = new Map<number, Value>();
  const count = Math.min(data.readUInt32LE(0), mostProperties);
  let at = 4;
  for (let number = 0; number < count; number++) {
    const stated = data.readUInt16LE(at);
    const id = data.readUInt16LE(at + 2);
    at += 4;
    if (id >= 0x8000) {
      const isNamed = data.readUInt32LE(at + 16) === 1;
      at += 20;
      at += isNamed ? 4 + padded(data.readUInt32LE(at)) : 4;
    }
    const type = stated & 0x0fff;
    const isList = (stated & 0x1000) !== 0;
    const fixed = fixedBytes.get(type);
    if (fixed === undefined && !statedTypes.has(type)) return found;
    let values = 1;
    if (isList || fixed === undefined) {
      values = data.readUInt32LE(at);
      at += 4;
    }
    for (let index = 0; index < values; index++) {
      const length = fixed ?? data.readUInt32LE(at);
      const begin = fixed === undefined ? at + 4 : at;
      if (begin + length > data.length) return found;
      if (index === 0 && !found.has(id)) found.set(id, { type, bytes: data.subarray(begin, begin + length) });
      at = begin + padded(length);
    }
  }
  return found;
}
