import { basename, dirname, resolve } from 'node:path';
import { printableWithin } from '../../doors/mcp/text.js';
import type { PlaceHere } from '../ask/places.js';

/** Longest name of a storage, in characters. */
export const longestName = 60;

/** Names for the places: of the folder, or of the file unless its folder says more. Each is printable, short and unique. */
export function storageNames(places: readonly PlaceHere[]): string[] {
  const taken = new Set<string>();
  return places.map(({ path, kind }) => {
    const own = basename(resolve(path));
    const file = own.replace(/\.json$/i, '');
    const wanted = kind === 'folder' ? own : file === 'kb' ? basename(dirname(resolve(path))) : file;
    const base = printableWithin(wanted, longestName - 4) || 'kb';
    let name = base;
    for (let number = 2; taken.has(name); number++) name = `${base}-${number}`;
    taken.add(name);
    return name;
  });
}
