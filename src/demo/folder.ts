import { lstat, mkdir } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '../config/startup-error.js';
import { replaceOwn } from '../files/replace-own.js';

/** Makes a folder in the project's cache, or in the temporary folder if the cache cannot be written. @throws StartupError */
export async function demoFolder(projectFolder: string): Promise<string> {
  const folder = join(projectFolder, '.cache', 'demo');
  try {
    await mkdir(folder, { recursive: true });
    await replaceOwn(join(folder, '.writable'), '', () => false);
    return folder;
  } catch {
    return ownFolder(join(tmpdir(), `lorekeep-demo-${userInfo().username}`));
  }
}

/** Makes a folder under a name that other users of this machine could have taken before. */
export async function ownFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  const isOwn = process.getuid === undefined || found.uid === process.getuid();
  if (!isOwn || !found.isDirectory())
    throw new StartupError(`${folder}: is a link, or belongs to another user; remove it`);
  return folder;
}
