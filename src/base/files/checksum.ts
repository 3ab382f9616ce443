import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Returns the SHA-256 of a file, hexadecimal. */
export async function fileChecksum(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const source = createReadStream(path, { highWaterMark: 1024 * 1024 });
  await (signal === undefined ? pipeline(source, hash) : pipeline(source, hash, { signal }));
  return hash.digest('hex');
}
