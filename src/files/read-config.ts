import type { FileHandle } from 'node:fs/promises';

/** Config files are pages long; what is beyond this is another file. */
export const largestConfigBytes = 4 * 1024 * 1024;

/** The content of an open file, or one byte more than is allowed: a device or a pipe has no size and may have no end. */
export async function readConfig(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.createReadStream({ autoClose: false, end: largestConfigBytes })) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
