// The parts of the test runner that npm has for one platform alone.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../tool/project.mjs';
import { fetchPackage } from '../vendor/fetch.mjs';

const cache = join(root, '.cache', 'cross');

/** What vitest loads has parts for each platform; other tools of the lockfile do not run there. */
const ofTestRunner = /rolldown|lightningcss|esbuild/;

/** Fetches what vitest needs on a platform, as the lockfile pins it. Returns a folder for NODE_PATH. */
export async function fetchPlatformPackages({ name, packages }) {
  const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const folder = join(cache, name, 'node_modules');
  for (const [path, entry] of Object.entries(locked)) {
    if (!ofTestRunner.test(path) || !isFor(entry, packages)) continue;
    const place = join(folder, path.slice('node_modules/'.length));
    if (versionAt(place) === entry.version) continue;
    const beside = `${place}.${process.pid}`;
    const source = { name: path, package: `${path.slice('node_modules/'.length)}@${entry.version}` };
    mkdirSync(dirname(place), { recursive: true });
    try {
      await fetchPackage({ ...source, integrity: entry.integrity }, beside);
      rmSync(place, { recursive: true, force: true });
      renameSync(beside, place);
    } finally {
      rmSync(beside, { recursive: true, force: true });
    }
  }
  return folder;
}

const isFor = ({ optional, os, cpu, libc }, wanted) =>
  optional === true &&
  os?.includes(wanted.os) === true &&
  cpu?.includes(wanted.cpu) === true &&
  (libc === undefined || libc.includes(wanted.libc));

function versionAt(folder) {
  const manifest = join(folder, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}
