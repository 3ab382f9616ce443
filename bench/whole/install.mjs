// The size of an installation: an empty project, install scripts off, all of node_modules. lorekeep is the packed checkout, so
// run `npm run prebuild` first. Needs the registry of npm; sizes do not depend on the load of the machine.
//
//   node bench/whole/install.mjs
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../harness/cache.mjs';
import { runTrial } from '../harness/trial.mjs';
import { installations } from './engines.mjs';

const columns = [
  { key: 'name', label: '' },
  { key: 'install', label: 'install, MB', digits: 0 },
  { key: 'note', label: '' },
];

await runTrial('install', {}, async () => {
  const [rows, failed] = [[], []];
  for (const { name, note, packages } of installations) {
    try {
      rows.push({ name, install: installSize(packages), note });
      console.log(`${name}: ${Math.round(rows.at(-1).install)} MB`);
    } catch (error) {
      failed.push({ name, reason: error.message.split('\n')[0] });
    }
  }
  const title = 'Size of an installation, without install scripts';
  return { tables: [{ id: 'install', title, columns, rows }], failed };
});

/** Returns megabytes. */
function installSize(packages) {
  const project = mkdtempSync(join(tmpdir(), 'lorekeep-install-'));
  try {
    writeFileSync(join(project, 'package.json'), '{"private": true}');
    const names = packages.map((name) => (name === 'lorekeep' ? pack(project) : name));
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...names];
    execFileSync('npm', args, { cwd: project, stdio: 'ignore' });
    return bytesUnder(join(project, 'node_modules')) / 1e6;
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function pack(project) {
  const args = [join(root, 'scripts', 'pack.mjs'), '--to', project];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n').at(-1);
}

function bytesUnder(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => lstatSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
