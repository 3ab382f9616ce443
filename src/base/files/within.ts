import { isAbsolute, relative, sep } from 'node:path';

/** Returns whether an absolute path is a folder or in it, by their names alone. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
