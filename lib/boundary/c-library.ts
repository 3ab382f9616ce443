/** Tells the C library of this process. */
import { closeSync, openSync, readSync } from 'node:fs';

/** Bytes of the header of a 64-bit ELF file, and the offsets of e_phoff, e_phentsize and e_phnum in it. */
const headerBytes = 64;
const tableOffset = 32;
const entrySizeOffset = 54;
const entryCountOffset = 56;
/** The type of the segment that names the dynamic loader, and the offsets of p_offset and p_filesz in an entry. */
const interpreter = 3;
const entryOffset = 8;
const entryFileSize = 32;

/** Whether a program is for musl: its dynamic loader is `/lib/ld-musl-x86_64.so.1` or similar. */
export function isForMusl(program: string): boolean {
  return dynamicLoader(program)?.includes('/ld-musl-') === true;
}

/** Returns the path of the dynamic loader that a 64-bit little-endian ELF program names; undefined for any other file. */
function dynamicLoader(program: string): string | undefined {
  let file: number;
  try {
    file = openSync(program, 'r');
  } catch {
    return undefined;
  }
  try {
    const header = read(file, 0, headerBytes);
    if (header.length < headerBytes || header.readUInt32BE(0) !== 0x7f454c46) return undefined;
    const size = header.readUInt16LE(entrySizeOffset);
    const table = read(
      file,
      Number(header.readBigUInt64LE(tableOffset)),
      size * header.readUInt16LE(entryCountOffset),
    );
    for (let at = 0; at < table.length; at += size) {
      if (table.readUInt32LE(at) !== interpreter) continue;
      const length = Number(table.readBigUInt64LE(at + entryFileSize));
      return read(file, Number(table.readBigUInt64LE(at + entryOffset)), length).toString('latin1');
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

function read(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, at));
}

/** Whether the running Node.js uses musl, on Alpine Linux or any other system. */
export const isMusl: boolean = process.platform === 'linux' && isForMusl(process.execPath);
