import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { build } from 'esbuild';
import { programEntries } from '../tool/program.mjs';

/**
 * Returns a function that tells whether a path of dist/ is a compiled module that nothing in the package loads: the library does
 * not import it, and the command line has it in its bundle.
 */
export async function unusedModules(root, { exports }) {
  const entries = Object.values(exports).flatMap((entry) => entry.default ?? []);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries.map((path) => join(root, path)),
    outdir: 'unwritten',
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    metafile: true,
    logLevel: 'error',
  });
  const used = new Set(Object.keys(metafile.inputs));
  for (const entry of programEntries) used.add(posix.join('dist', entry.replace(/\.ts$/, '.js')));
  return (path) => {
    const source = /^dist\/(.*)\.js$/.exec(path)?.[1];
    return source !== undefined && existsSync(join(root, `${source}.ts`)) && !used.has(path);
  };
}
