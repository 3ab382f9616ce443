// An edition of the package: node scripts/pack.mjs [--edition development|production] [--without-models] [--to FOLDER]
// development is what is published; production is what products embed. docs/guides/shipping.md says what is in each.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { placeProductionAddons } from './pack/addons.mjs';
import { isDeclaration, reachableDeclarations } from './pack/declarations.mjs';
import { editionFiles, editions, isIn } from './pack/editions.mjs';
import { unusedModules } from './pack/modules.mjs';
import { sbom } from './pack/sbom.mjs';
import { packFolder, place } from './pack/staging.mjs';
import { bundleProgram, programFolder } from './tool/program.mjs';
import { packageJson, prebuildsFolder, root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('pack', async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      edition: { type: 'string', default: 'development' },
      'without-models': { type: 'boolean', default: false },
      to: { type: 'string', default: '.' },
    },
  });
  const { edition, 'without-models': withoutModels } = values;
  if (!editions.includes(edition))
    throw new Stop(`--edition is ${edition}: ${editions.join(' or ')} is expected`);
  const to = resolve(values.to);
  // Beside the checkout's files, so that they can be linked; else they are copied.
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-pack-'));
  try {
    await stage(edition, withoutModels, folder);
    if (!existsSync(join(folder, 'prebuilds')))
      process.stderr.write(
        'pack: there are no prebuilds, so the package has no addon: `npm run prebuild` makes the addon of this platform\n',
      );
    mkdirSync(to, { recursive: true });
    const name = (await packFolder(folder, ['--pack-destination', to])).trim().split('\n').at(-1);
    console.log(join(to, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Puts the files of an edition into `folder`. */
async function stage(edition, withoutModels, folder) {
  const output = await packFolder(root, ['--dry-run', '--json']);
  const [{ files }] = JSON.parse(output.slice(output.indexOf('[')));
  const isModel = (path) => path.startsWith('data/models/') && path.endsWith('.gguf');
  const declarations = reachableDeclarations(root, packageJson());
  const isUnused = await unusedModules(root, packageJson());
  const isLeftOut = (path) =>
    (withoutModels && isModel(path)) ||
    (isDeclaration(path) && !declarations.has(path)) ||
    path.startsWith(`dist/${programFolder}/`) ||
    isUnused(path);
  for (const { path } of files) {
    if (isIn(edition, path) && !isLeftOut(path)) place(join(root, path), join(folder, path));
  }
  await bundleProgram(join(folder, 'dist'), (path) => isIn(edition, path));
  if (edition === 'production') placeProductionAddons(prebuildsFolder, join(folder, 'prebuilds'));
  for (const [path, text] of Object.entries(editionFiles(edition))) write(join(folder, path), text);
  const models = withoutModels ? [] : files.map(({ path }) => path).filter(isModel);
  write(join(folder, 'sbom.cdx.json'), sbom(edition, models));
  // `name` and `version` are the same: an edition replaces the other.
  const manifest = { ...packageJson(), edition };
  write(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Replaces a link by a file of its own, so that the checkout keeps its file. */
function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  writeFileSync(path, text);
}
