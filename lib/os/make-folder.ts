import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its missing parents, with these permissions. Returns the created ones, outermost first. Not
 * Node's recursive mkdir, which never returns on file systems without mkdir, such as /proc. @throws system errors
 */
export function makeFolder(path: string, mode?: number): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); !isFolder(at) && at !== missing.at(-1); at = dirname(at)) missing.push(at);
  return missing.reverse().filter((folder) => mkdirUnlessThere(folder, mode));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns whether this call created the folder: another process may do so at the same time. */
function mkdirUnlessThere(path: string, mode: number | undefined): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && isFolder(path)) return false;
    throw error;
  }
}
