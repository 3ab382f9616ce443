// dump_syms and minidump_stackwalk, built from the vendored sources of breakpad: for tests and for releases.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launcherOptions } from './ccache.mjs';
import { findProgram } from './command.mjs';
import { build, configure, requireToolchain } from './native-tree.mjs';
import { root } from './project.mjs';
import { withTreeLock } from './tree-lock.mjs';

const tree = join(root, '.cmake', 'crash-tools');

/** More than the symbols of any library have. */
const maxBytes = 1024 * 1024 * 1024;

/** Builds the tools, if necessary, and returns their paths. Linux only. */
export async function crashTools() {
  requireToolchain();
  const generator = findProgram('ninja') ? ['-G', 'Ninja'] : [];
  const options = Object.entries(launcherOptions()).map(([key, value]) => `-D${key}=${value}`);
  await withTreeLock(tree, async () => {
    const source = join(root, 'scripts', 'crash-tools');
    await configure(tree, ['cmake', '-S', source, '-B', tree, ...generator, ...options]);
    await build(tree);
  });
  return { dumpSyms: join(tree, 'dump_syms'), stackwalk: join(tree, 'minidump_stackwalk') };
}

/**
 * Writes the symbol file of a library that is not stripped to `into`/NAME/ID/NAME.sym, where minidump_stackwalk
 * looks. NAME is the library's own (SONAME), as in dumps, whatever the file is called.
 */
export function writeSymbols(dumpSyms, file, into) {
  const text = execFileSync(dumpSyms, [file], {
    encoding: 'utf8',
    maxBuffer: maxBytes,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, id, name] = /^MODULE \S+ \S+ (\w+) (.+)/.exec(text);
  const folder = join(into, name, id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.sym`), text);
  return join(folder, `${name}.sym`);
}
