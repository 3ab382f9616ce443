import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and those above it that are missing; gives the made ones, outermost first. Node's own recursive mkdir does
 * not return where the file system takes no folders, such as /proc. @throws system errors
 */
export function makeFolder(path: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); !isFolder(at) && at !== missing.at(-1); at = dirname(at)) missing.push(at);
  return missing.reverse().filter((folder) => mkdirUnlessThere(folder));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Whether it was made here: somebody else may make it at the same time. */
function mkdirUnlessThere(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && isFolder(path)) return false;
    throw error;
  }
}
