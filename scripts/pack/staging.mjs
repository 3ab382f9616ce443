import { copyFileSync, linkSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { npmCommand, run } from '../tool/command.mjs';

const [npm, ...first] = npmCommand();

/** Links a file to another place, or copies it to another file system. */
export function place(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** Places a file, or every file of a folder except hidden folders: those are a build's own. */
export function placeTree(from, to) {
  if (!statSync(from).isDirectory()) return place(from, to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name.startsWith('.')) continue;
    placeTree(join(from, entry.name), join(to, entry.name));
  }
}

/** Runs `npm pack` on a folder and returns the standard output. */
export async function packFolder(folder, options) {
  let output = '';
  const onLine = (line) => {
    output += `${line}\n`;
  };
  await run(npm, [...first, 'pack', folder, '--ignore-scripts', ...options], { quiet: true, onLine });
  return output;
}
