// The size of an installation: an empty project, install scripts off, all of node_modules.
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../harness/cache.mjs';

/** Programs that the table names for their size alone. */
export const sizesOnly = [
  { name: 'qmd', packages: ['@tobilu/qmd'] },
  { name: 'sqlite-vec with better-sqlite3', packages: ['sqlite-vec', 'better-sqlite3@12.11.1'] },
  { name: 'Qdrant: the client alone', packages: ['@qdrant/js-client-rest'] },
  { name: 'LangChain.js with LangGraph', packages: ['langchain', '@langchain/core', '@langchain/langgraph'] },
];

/** Returns megabytes; undefined if it cannot be installed. `lorekeep` is the packed checkout. */
export async function installSize(packages) {
  const project = mkdtempSync(join(tmpdir(), 'lorekeep-install-'));
  try {
    writeFileSync(join(project, 'package.json'), '{"private": true}');
    const names = packages.map((name) => (name === 'lorekeep' ? pack(project) : name));
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...names];
    execFileSync('npm', args, { cwd: project, stdio: 'ignore' });
    return bytesUnder(join(project, 'node_modules')) / 1e6;
  } catch {
    return undefined;
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function pack(project) {
  const args = ['pack', root, '--ignore-scripts', '--json', '--pack-destination', project];
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 64 << 20 }));
  return join(project, filename);
}

function bytesUnder(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => lstatSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
