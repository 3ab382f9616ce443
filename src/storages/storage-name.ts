import { fail } from '../protocol/errors.js';

const wellFormed = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const reservedPrefix = 'lorekeep.';

/**
 * Returns whether the storage in a node param or a search is a path rather than a name. Everything that is a path on any
 * system, or after percent-decoding, counts as one, so that it is refused if it leaves the root.
 */
export function isPath(name: string): boolean {
  return looksLikePath(name) || /[\\:\0]|%[0-9a-f]{2}/i.test(name) || name === '.' || name === '..';
}

const looksLikePath = (name: string) => name.includes('/') || name.endsWith('.json');

/** @throws InvalidStorageName */
export function checkStorageName(name: string, path = 'name'): void {
  const problem = nameProblem(name);
  if (problem !== undefined) fail(8001, `${path}: ${problem}`, { path, name: name.slice(0, 256) });
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'a storage needs a name that is not empty';
  const shown = JSON.stringify(name.slice(0, 64));
  if (looksLikePath(name)) return `${shown} looks like a path; a name has no "/" and does not end in ".json"`;
  if (!wellFormed.test(name)) {
    return `${shown} is malformed: a letter or digit, then at most 127 letters, digits, ".", "_" or "-"`;
  }
  if (name.startsWith(reservedPrefix))
    return `${shown} is reserved: names do not start with "${reservedPrefix}"`;
  return undefined;
}
