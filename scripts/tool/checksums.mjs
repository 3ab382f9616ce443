import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

export const sha256Of = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Writes SHA256SUMS for all files of a folder, as sha256sum prints and checks them. */
export function writeChecksums(folder) {
  const list = join(folder, 'SHA256SUMS');
  rmSync(list, { force: true }); // it may be a link to another folder's list
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const names = files.map(({ parentPath, name }) =>
    relative(folder, join(parentPath, name)).replaceAll(sep, '/'),
  );
  const lines = names.sort().map((name) => `${sha256Of(join(folder, name))}  ${name}\n`);
  writeFileSync(list, lines.join(''));
}
