/** Names of files that are written beside their place, and the removal of those that killed processes left. */
import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { processExists } from './process-exists.js';

/** The suffix of temporaryName(); earlier versions added no process. */
const temporaryEnd = /^\.(?:(\d+)-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** Returns a name in the folder of `path` for a temporary file of this process, which removeStrays() finds if the process is killed. */
export const temporaryName = (path: string) => `${path}.${process.pid}-${randomUUID()}.tmp`;

/**
 * Removes the temporary files of killed writers of `path`. `alone`: the caller holds the lock of all writers, so that every temporary
 * file is a killed one's. Without a lock, a file stays if its writer's process number is in use.
 */
export async function removeStrays(path: string, { alone = false } = {}): Promise<void> {
  for (const { file, writer } of await temporaryFiles(path)) {
    if (alone || writer === undefined || !processExists(writer)) await rm(file, { force: true });
  }
}

/** Returns the temporary files of writers of `path`, each with the process number of its writer if the name has one. @throws system errors */
export async function temporaryFiles(path: string): Promise<{ file: string; writer: number | undefined }[]> {
  const [folder, own] = [dirname(path), basename(path)];
  const found: { file: string; writer: number | undefined }[] = [];
  for (const name of await readdir(folder)) {
    const end = name.startsWith(own) ? temporaryEnd.exec(name.slice(own.length)) : null;
    if (end === null) continue;
    found.push({ file: join(folder, name), writer: end[1] === undefined ? undefined : Number(end[1]) });
  }
  return found;
}
