import { realpathSync, statSync } from 'node:fs';

const kernelFolder = /^\/(proc|sys|dev)(\/|$)/;

/** Returns why no session can read in a folder, as a sentence without its path; undefined if it can. */
export function rootFolderProblem(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return 'is a file';
    return kernelFolder.test(realpathSync(folder))
      ? 'is in /proc, /sys or /dev, which no client may open'
      : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  }
}
