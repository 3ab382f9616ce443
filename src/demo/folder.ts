import { mkdir } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { writeWhole } from '../../lib/regular-file.js';

/** Makes a folder in the project's cache, or in the temporary folder if the cache cannot be written. */
export async function demoFolder(projectFolder: string): Promise<string> {
  const folder = join(projectFolder, '.cache', 'demo');
  try {
    await mkdir(folder, { recursive: true });
    await replaceFile(join(folder, '.writable'), '');
    return folder;
  } catch {
    const elsewhere = join(tmpdir(), `lorekeep-demo-${userInfo().username}`);
    await mkdir(elsewhere, { recursive: true });
    return elsewhere;
  }
}

/** Writes a file by rename, so that two programs at once leave a whole file. */
export async function replaceFile(path: string, content: string): Promise<void> {
  await writeWhole(path, (write) => write(content));
}
