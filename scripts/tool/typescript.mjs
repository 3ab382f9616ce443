import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { publicDeclaration, reachableDeclarations } from '../pack/declarations.mjs';
import { bundleBrowserClient } from './browser-client.mjs';
import { run } from './command.mjs';
import { bundleMcpSdk } from './mcp-sdk.mjs';
import { buildPages, pageFolders } from './page.mjs';
import { bundleProgram, programFolder } from './program.mjs';
import { packageJson, root } from './project.mjs';

/** The path of the tsc program of the installed TypeScript. */
export function tscProgram() {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('typescript/package.json');
  return join(dirname(manifest), require(manifest).bin.tsc);
}

/** Compiles lib/ and src/ to dist/, with the pages, and removes what has no source any more. */
export async function compileTypeScript() {
  const dist = join(root, 'dist');
  // The incremental record would make tsc believe in files that somebody has removed.
  if (!existsSync(dist)) rmSync(join(root, '.cache', 'tsc-build.tsbuildinfo'), { force: true });
  await run(process.execPath, [tscProgram(), '-p', join(root, 'tsconfig.json')], { cwd: root, quiet: true });
  writePublicDeclarations();
  await buildPages();
  await bundleMcpSdk();
  await bundleBrowserClient();
  if (existsSync(join(root, 'src'))) await bundleProgram(dist);
  const removed = removeOrphans(dist);
  return removed > 0 ? `${removed} stale files removed from dist` : '';
}

/** Users of the package may lack the types of Node.js: the declarations that they reach do without. */
function writePublicDeclarations() {
  for (const path of reachableDeclarations(root, packageJson())) {
    const text = publicDeclaration(root, path);
    const file = join(root, path);
    if (text !== readFileSync(file, 'utf8')) writeFileSync(file, text);
  }
}

function removeOrphans(dist) {
  let removed = 0;
  for (const entry of readdirSync(dist, { recursive: true })) {
    const output = /^(.*)\.(js|js\.map|d\.ts)$/.exec(entry);
    // Pages and the program are bundled, see page.mjs and program.mjs.
    if (
      !output ||
      [...pageFolders, programFolder].some((folder) => entry.startsWith(folder)) ||
      existsSync(join(root, `${output[1]}.ts`))
    )
      continue;
    rmSync(join(dist, entry));
    removed++;
  }
  return removed;
}
