import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { writeWhole } from '../../lib/regular-file.js';

/**
 * A folder for files made from `content`, in the project's cache, or in the temporary folder if the cache cannot be
 * written. Its name is the content's digest, so that later runs can reuse it.
 */
export async function demoFolder(projectFolder: string, content: unknown): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16);
  const folder = join(projectFolder, '.cache', 'demo', digest);
  try {
    await mkdir(folder, { recursive: true });
    await replaceFile(join(folder, '.writable'), '');
    return folder;
  } catch {
    const elsewhere = join(tmpdir(), `lorekeep-demo-${userInfo().username}`, digest);
    await mkdir(elsewhere, { recursive: true });
    return elsewhere;
  }
}

/** Writes a file by rename, so that two programs at once leave a whole file. */
export async function replaceFile(path: string, content: string): Promise<void> {
  await writeWhole(path, (write) => write(content));
}
