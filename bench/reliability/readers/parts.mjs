// What the lists of readers share.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonParser } from '../../../dist/src/protocol/json-parser.js';

/** Time of a slice in ms, as a server has it. */
const sliceMs = 5;

/** Parses JSON as a server does, in slices. */
export async function parsedInSlices(text) {
  const limits = { depth: 64, values: 1_000_000, fields: 10_000, stringBytes: 4 * 1024 * 1024 };
  const parser = new JsonParser(Buffer.from(text), limits);
  for (let end = performance.now() + sliceMs; !parser.parse(() => performance.now() > end); ) {
    await nextTurn();
    end = performance.now() + sliceMs;
  }
  return parser.value;
}

/** A list of tokens. */
export const words = (text) => text.split(' ');

/** Characters that readers tend to forget. */
export const odd = ['\u0301', '\u200d', '👩', 'ß', 'İ', '한', 'ก', '、', '\ud800', '\0', '\ufeff', '\u2028'];

/** What a refusal is, for any reader. */
export const refused = async (work) => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RangeError && /call stack/i.test(error.message)) throw error;
    return undefined;
  }
};

/** Bytes of a ZIP archive whose parts are not packed. */
export function zipOf(parts) {
  const locals = [];
  const entries = [];
  let at = 0;
  for (const [name, text] of Object.entries(parts)) {
    const data = Buffer.from(text);
    const local = Buffer.alloc(30 + name.length);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    local.write(name, 30);
    const entry = Buffer.alloc(46 + name.length);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    entry.write(name, 46);
    locals.push(local, data);
    entries.push(entry);
    at += local.length + data.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...entries, end]);
}
