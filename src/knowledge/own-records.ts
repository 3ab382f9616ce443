import { lstat } from 'node:fs/promises';
import { openRegular } from '../../lib/basics.js';
import { LorekeepError } from '../../lib/internal.js';

/** How a records file that lorekeep writes begins and ends, and one without records. */
const [beginning, end] = ['[\n{"id":', '\n]\n'];
const withoutRecords = '[\n\n]\n';

/** Checks that a records file may be replaced. @throws INVALID_ARGUMENT unless it is absent, empty, or written by lorekeep */
export async function checkOwnRecords(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || (found.isFile() && found.size === 0)) return;
  if (found.isFile() && (await isOwn(path, found.size))) return;
  const reason = 'was not written by lorekeep, so it is left as it is; move it away, or choose another path';
  throw LorekeepError.about('INVALID_ARGUMENT', { file: path, reason });
}

async function isOwn(path: string, size: number): Promise<boolean> {
  await using file = await openRegular(path);
  const at = async (position: number, length: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, Math.max(0, position));
    return buffer.toString('latin1', 0, bytesRead);
  };
  if (size === withoutRecords.length) return (await at(0, size)) === withoutRecords;
  return (await at(0, beginning.length)) === beginning && (await at(size - end.length, end.length)) === end;
}
