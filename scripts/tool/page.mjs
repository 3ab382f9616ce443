import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages, packagesOf } from './bundled.mjs';
import { root } from './project.mjs';
import { Stop } from './stop.mjs';

/** The folders of web/ that are pages: their scripts, and their place below dist/src. Both use web/parts. */
const pages = [
  { from: 'monitor', into: ['operations', 'monitor', 'page'], scripts: ['app.tsx'] },
  { from: 'page', into: ['doors', 'page', 'files'], scripts: ['app.tsx', 'enter.ts'] },
];

/** Folders of dist/ whose files are bundled from web/. */
export const pageFolders = pages.map(({ into }) => join('src', ...into));

/** Bundles the pages of web/. A package that contains no sources of them keeps the pages that it has. */
export async function buildPages() {
  if (!existsSync(join(root, 'web'))) return 'no sources';
  const { build } = await import('esbuild');
  let bytes = 0;
  for (const { from, into, scripts } of pages) {
    const folder = join(root, 'web', from);
    const target = join(root, 'dist', 'src', ...into);
    mkdirSync(target, { recursive: true });
    const { metafile } = await build({
      entryPoints: [...scripts, 'app.css'].map((name) => join(folder, name)),
      outdir: target,
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
        throw new Stop(`web/${from} contains ${name}: name it and its licence in scripts/tool/bundled.mjs`);
    copyFileSync(join(folder, 'index.html'), join(target, 'index.html'));
    for (const output of Object.values(metafile.outputs)) bytes += output.bytes;
  }
  return `${Math.ceil(bytes / 1024)} KiB`;
}
