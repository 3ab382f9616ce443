import { readFileSync } from 'node:fs';

/** Returns the process's limit of open files, which Node.js raises to the hard limit at its start; undefined if unknown. */
export function descriptorLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined;
  }
}
