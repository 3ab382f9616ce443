import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LorekeepError } from '../../../lib/internal.js';

/** Longest path of a socket that every system takes, in bytes. */
const longestPath = 100;
const ending = '.sock';

/** The folder of the sockets of the processes that have a knowledge base open: beside its records file, and only its owner's. */
export const socketFolderOf = (records: string): string => `${records}.operator`;

/** Returns whether a folder is this user's alone: nobody else can put a socket there, or connect to one. */
export function isOwn(folder: string): boolean {
  try {
    const found = lstatSync(folder);
    const me = process.getuid?.();
    return found.isDirectory() && (found.mode & 0o077) === 0 && (me === 0 || found.uid === me);
  } catch {
    return false;
  }
}

/** Makes the folder, and returns a new name in it. @throws IO */
export function newSocket(records: string): string {
  const folder = socketFolderOf(records);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
      throw LorekeepError.about('IO', { file: folder, reason: 'cannot be made' }, { cause });
  }
  if (!isOwn(folder))
    throw LorekeepError.about('IO', { file: folder, reason: 'is not a folder that only its owner can open' });
  return join(folder, `${process.pid}-${randomBytes(4).toString('hex')}${ending}`);
}

/** The number of the process that has made a socket. */
export const processOf = (socket: string): number => Number.parseInt(basename(socket), 10);

/** Lists the sockets, also of processes that have ended; none in a folder that others can open. */
export async function socketsOf(records: string): Promise<string[]> {
  const folder = socketFolderOf(records);
  if (!isOwn(folder)) return [];
  const names = await readdir(folder).catch((): string[] => []);
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

export const removeSocket = (socket: string): Promise<void> => rm(socket, { force: true });

/** Calls `use` with a name of a socket that is short enough. @throws UNSUPPORTED */
export async function withShortName<T>(socket: string, use: (name: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(socket) <= longestPath) return use(socket);
  if (process.platform !== 'linux')
    throw LorekeepError.about('UNSUPPORTED', { file: socket, reason: 'the path of the socket is too long' });
  const at = socket.lastIndexOf('/');
  let folder: FileHandle | undefined;
  try {
    folder = await open(socket.slice(0, at));
    return await use(`/proc/self/fd/${folder.fd}${socket.slice(at)}`);
  } finally {
    await folder?.close();
  }
}
