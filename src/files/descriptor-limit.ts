import { readFileSync } from 'node:fs';

/** How many files the process may have open, which Node.js raises at its start to the hard limit; undefined where it is not told. */
export function descriptorLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined;
  }
}
