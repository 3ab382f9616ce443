import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand, run } from './command.mjs';
import { phase } from './phase.mjs';
import { packageJson, root } from './project.mjs';
import { Stop } from './stop.mjs';

/** Stops on a Node older than package.json asks for: what follows would fail in less clear ways. */
export function requireNode() {
  const wanted = /(\d+)\.(\d+)/.exec(packageJson().engines.node);
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [, wantedMajor, wantedMinor] = wanted.map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  throw new Stop(
    `Node ${wantedMajor}.${wantedMinor} or newer is needed, and this is ${process.versions.node}`,
  );
}

/** `npm ci`, unless node_modules already holds what package-lock.json says. */
export async function installPackages() {
  if (isInstalled()) return;
  await phase('packages', async () => {
    const [command, ...args] = npmCommand();
    await run(command, [...args, 'ci', '--no-audit', '--no-fund'], { cwd: root, quiet: true });
    return 'npm ci';
  });
}

function isInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = readPackages(join(root, 'package-lock.json'));
  const present = readPackages(installed);
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const there = present[path];
    return there
      ? there.version === entry.version && there.integrity === entry.integrity
      : entry.optional === true;
  });
}

const readPackages = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
