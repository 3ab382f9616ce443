import type { BigIntStats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import type { FileFacts } from './file-facts.js';

/** Options of stat(): inodes of Windows and times in nanoseconds do not fit into a number. */
export const exact = { bigint: true } as const;

type Id = Pick<FileFacts, 'dev' | 'ino'>;

/** Returns the same text for all names of one file, whatever it holds. */
export const fileId = ({ dev, ino }: Id): string => `${dev}:${ino}`;

/**
 * Returns a text that differs once a file's content may differ. Device and inode change when another file takes its name, size and
 * modification time when it is written. The change time tells a write after which a program has set the modification time back.
 */
export const fileStamp = (facts: FileFacts): string => `${facts.dev}:${lastingStamp(facts)}`;

/** The stamp for a file on disk: without the device, whose number may be another one after a restart. */
export const lastingStamp = ({ ino, size, mtimeNs, ctimeNs }: Omit<FileFacts, 'dev'>): string =>
  `${ino}:${size}:${mtimeNs}:${ctimeNs}`;

/** Returns whether two files have the same stamp, without making it. */
export const isUnchanged = (a: FileFacts, b: FileFacts): boolean =>
  a.ino === b.ino &&
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs &&
  a.size === b.size &&
  a.dev === b.dev;

/** Returns the facts of the file that a path leads to; undefined if it cannot be looked at. */
export const factsAt = (path: string): Promise<BigIntStats | undefined> =>
  stat(path, exact).catch(() => undefined);

/** Returns lastingStamp() of the file that a path leads to; undefined if it cannot be looked at. */
export const stampAt = async (path: string): Promise<string | undefined> => {
  const found = await factsAt(path);
  return found && lastingStamp(found);
};

/** Returns fileId() of the file that a path leads to; undefined if it cannot be looked at. */
export async function fileIdAt(path: string): Promise<string | undefined> {
  const found = await factsAt(path);
  return found && fileId(found);
}

/** Returns fileId() of a name, which may be a link; undefined if there is none. */
export async function nameIdAt(path: string): Promise<string | undefined> {
  const found = await lstat(path, exact).catch(() => undefined);
  return found && fileId(found);
}
