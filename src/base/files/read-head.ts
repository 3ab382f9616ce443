import { openRegular } from '../../../lib/basics.js';

/** Reads the first bytes of a file; fewer if it is shorter. */
export async function readFirst(path: string, bytes: number): Promise<Buffer> {
  await using file = await openRegular(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** Reads the first bytes of a file as text. */
export async function readHead(path: string, bytes: number): Promise<string> {
  return (await readFirst(path, bytes)).toString('utf8');
}
