// The real Node.js of a target, and the parts of the test runner that npm has for its platform alone.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256Of } from '../tool/checksums.mjs';
import { findProgram, run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { fetchPackage } from '../vendor/fetch.mjs';

const cache = join(root, '.cache', 'cross');

/** Fetches Node.js once, as a Python wheel, and returns the path of its program. */
export async function fetchNode({ addon: { node } }) {
  const folder = join(cache, `node-${node.version}-${node.platform}`);
  const program = join(folder, node.program);
  if (existsSync(program)) return program;
  const beside = `${folder}.${process.pid}`;
  try {
    await unpackWheel(node, beside);
    chmodSync(join(beside, node.program), 0o755); // zipfile leaves modes out
    rmSync(folder, { recursive: true, force: true });
    renameSync(beside, folder);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
  return program;
}

async function unpackWheel(node, folder) {
  const python = findProgram('python3');
  if (python === undefined)
    throw new Stop('python3 with pip is needed to fetch Node.js for another platform');
  const wanted = `${node.package}==${node.version}`;
  const log = join(cache, 'pip.log');
  mkdirSync(folder, { recursive: true });
  const args = ['--no-deps', '--only-binary=:all:', '--platform', node.platform, '--dest', folder];
  await run(python, ['-m', 'pip', 'download', ...args, wanted], { log });
  const [wheel] = readdirSync(folder).filter((name) => name.endsWith('.whl'));
  const sha256 = sha256Of(join(folder, wheel));
  if (sha256 !== node.sha256)
    throw new Stop(
      `${wheel} has another content than scripts/cross/targets.mjs says: its SHA-256 is ${sha256}`,
    );
  await run(python, ['-m', 'zipfile', '-e', join(folder, wheel), folder], { log });
  rmSync(join(folder, wheel));
}

/** What vitest loads has parts for each platform; other tools of the lockfile do not run there. */
const ofTestRunner = /rolldown|lightningcss|esbuild/;

/** Fetches what vitest needs on a platform, as the lockfile pins it. Returns a folder for NODE_PATH. */
export async function fetchPlatformPackages({ name, addon: { packages } }) {
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
