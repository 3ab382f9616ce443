// Machine, versions and load of a run. Every result carries them: numbers mean nothing without.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from './cache.mjs';

export function machine() {
  return {
    cpu: cpus()[0]?.model.trim(),
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    node: process.version,
  };
}

/** Runnable processes on average over the last minute: above the number of cores, times say little. */
export const load = () => Number(loadavg()[0].toFixed(2));

/** The library's version and commit, and each peer's installed version (undefined: not installed). */
export function versions() {
  const { version } = readPackage(root);
  const peers = readPackage(join(root, 'bench')).dependencies;
  const installed = Object.keys(peers).map((name) => [name, installedVersion(name)]);
  return { lorekeep: [version, commit()].filter(Boolean).join(' '), peers: Object.fromEntries(installed) };
}

export const installedVersion = (name) =>
  readPackage(join(root, 'bench', 'node_modules', ...name.split('/')))?.version;

function readPackage(folder) {
  const path = join(folder, 'package.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

function commit() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', 'lib', 'src', 'native');
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' with changes' : '');
  } catch {
    return ''; // not a checkout
  }
}
