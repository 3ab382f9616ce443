import type { FileHandle } from 'node:fs/promises';

/** Largest config file in bytes. A larger file is not a config. */
export const largestConfigBytes = 4 * 1024 * 1024;

/** The content of an open file, up to one byte more than allowed: a device or a pipe has no size and may have no end. */
export async function readConfig(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.createReadStream({ autoClose: false, end: largestConfigBytes })) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
