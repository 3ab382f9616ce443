/**
 * Finds truncated shared libraries before they are loaded. Linux maps a truncated library without an error, and the process
 * dies of SIGBUS at the first access beyond its end. The loaders of macOS and Windows check it themselves.
 */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of the header of a 64-bit ELF file. */
const headerBytes = 64;
/** Bytes of one program header, and the offsets of its fields p_offset and p_filesz. */
const entryBytes = 56;
const entryOffset = 8;
const entryFileSize = 32;
/** Bytes of one section header. The table of sections is usually the end of the file. */
const sectionBytes = 64;
/** The offsets of e_phoff, e_shoff, e_phentsize, e_phnum and e_shnum in the header. */
const tableOffset = 32;
const sectionsOffset = 40;
const tableEntrySize = 54;
const tableCount = 56;
const sectionCount = 60;

const isLibrary = /\.(?:node|so(?:\.[\d.]+)?)$/;

/** Returns a sentence about the first truncated ELF library in a folder; undefined if there is none. */
export function truncatedLibrary(folder: string): string | undefined {
  for (const name of readdirSync(folder)) {
    const missing = isLibrary.test(name) ? missingBytes(join(folder, name)) : 0;
    if (missing > 0) return `${name} is truncated: ${missing} bytes or more are missing`;
  }
  return undefined;
}

/** Number of bytes that an ELF file's segments and tables lie beyond its end; 0 for other files and unreadable ones. */
function missingBytes(file: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return 0;
  }
  try {
    const { size } = fstatSync(descriptor);
    const header = read(descriptor, 0, headerBytes);
    // ELF, 64 bits, little endian: every platform that the addon is built for.
    if (header.length < headerBytes || header.readUInt32BE(0) !== 0x7f454c46) return 0;
    if (header[4] !== 2 || header[5] !== 1 || header.readUInt16LE(tableEntrySize) !== entryBytes) return 0;
    const at = Number(header.readBigUInt64LE(tableOffset));
    const length = header.readUInt16LE(tableCount) * entryBytes;
    const table = read(descriptor, at, length);
    const sections = header.readUInt16LE(sectionCount) * sectionBytes;
    let end = Math.max(at + length, Number(header.readBigUInt64LE(sectionsOffset)) + sections);
    for (let entry = 0; entry + entryBytes <= table.length; entry += entryBytes) {
      const begin = Number(table.readBigUInt64LE(entry + entryOffset));
      end = Math.max(end, begin + Number(table.readBigUInt64LE(entry + entryFileSize)));
    }
    return Math.max(0, end - size);
  } catch {
    return 0;
  } finally {
    closeSync(descriptor);
  }
}

function read(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position));
}
