// The npm package @lorekeep/source: node scripts/pack-source.mjs [--to FOLDER]. Prints the path of the tarball.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { sourceManifest, sourceParts, sourceReadme } from './pack/source.mjs';
import { packFolder, placeTree } from './pack/staging.mjs';
import { root } from './tool/project.mjs';
import { runScript } from './tool/stop.mjs';
import { vendor } from './vendor/vendor.mjs';

await runScript('pack-source', async (args) => {
  const { values } = parseArgs({ args, options: { to: { type: 'string', default: '.' } } });
  const to = resolve(values.to);
  await vendor();
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-pack-'));
  try {
    for (const part of sourceParts) placeTree(join(root, part), join(folder, part));
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(sourceManifest(), null, 2)}\n`);
    writeFileSync(join(folder, 'README.md'), sourceReadme);
    mkdirSync(to, { recursive: true });
    const name = (await packFolder(folder, ['--pack-destination', to])).trim().split('\n').at(-1);
    console.log(join(to, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
