import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages, packagesOf } from './bundled.mjs';
import { root } from './project.mjs';
import { Stop } from './stop.mjs';

/** Bundles web/monitor into dist/src/operations/monitor/page. A package that contains no sources of it keeps the page that it has. */
export async function buildPage() {
  const from = join(root, 'web', 'monitor');
  if (!existsSync(from)) return 'no sources';
  const { build } = await import('esbuild');
  const into = join(root, 'dist', 'src', 'operations', 'monitor', 'page');
  mkdirSync(into, { recursive: true });
  const { metafile } = await build({
    entryPoints: [join(from, 'app.tsx')],
    outfile: join(into, 'app.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    metafile: true,
    logLevel: 'warning',
  });
  for (const name of packagesOf(Object.keys(metafile.inputs)))
    if (!bundledPackages.some((bundled) => bundled.name === name))
      throw new Stop(`the page contains ${name}: name it and its licence in scripts/tool/bundled.mjs`);
  for (const name of ['index.html', 'app.css']) copyFileSync(join(from, name), join(into, name));
  const [bytes] = Object.values(metafile.outputs).map((output) => output.bytes);
  return `${Math.ceil(bytes / 1024)} KiB`;
}
