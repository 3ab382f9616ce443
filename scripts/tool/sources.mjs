import { existsSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Own files under root/folders whose name ends in one of `extensions`, relative to root, with forward slashes, sorted. */
export function sourceFiles(root, folders, extensions) {
  const found = [];
  for (const folder of folders) {
    if (!existsSync(join(root, folder))) continue;
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !extensions.some((extension) => entry.name.endsWith(extension))) continue;
      const path = join(entry.parentPath, entry.name).slice(root.length + 1);
      found.push(path.split(sep).join('/'));
    }
  }
  const foreign = (path) => path.startsWith('native/vendor/') || path.includes('/node_modules/');
  return found.filter((path) => !foreign(path)).sort();
}
