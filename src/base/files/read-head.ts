import { openRegular } from '../../../lib/basics.js';

/** Reads the first bytes of a file as text. */
export async function readHead(path: string, bytes: number): Promise<string> {
  await using file = await openRegular(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
  return buffer.toString('utf8', 0, bytesRead);
}
