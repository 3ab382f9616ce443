// Writes the generated places of docs/, between the lines `<!-- begin NAME -->` and `<!-- end NAME -->`: tables from the
// zod schemas of dist/ (`npm run build` first), the pages of the node types, and the layers of src/.
// node scripts/generate-docs.mjs --check | --write
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { configurationPlaces } from './docs/configuration.mjs';
import { protocolPlaces } from './docs/protocol.mjs';
import { foldersTable } from './layers/folders.mjs';
import { withMarkedPlace } from './tool/marked-place.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('generate-docs', async (args) => {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean' }, write: { type: 'boolean' } } });
  if (values.check === values.write) throw new Stop('say --check or --write');
  for (const [file, places] of Object.entries(await generatedPlaces())) {
    const path = join(root, 'docs', file);
    const before = readFileSync(path, 'utf8');
    let after = before;
    for (const [name, text] of Object.entries(places))
      after = withMarkedPlace(`docs/${file}`, after, name, text);
    if (values.write) writeFileSync(path, after);
    else if (after !== before) {
      throw new Stop(`docs/${file} is out of date; \`npm run generate\` writes it`);
    }
  }
  process.stdout.write(`generate-docs: ${values.write ? 'written' : 'current'}\n`);
});

/** By file of docs/, then by the name of the place. */
async function generatedPlaces() {
  const dist = join(root, 'dist', 'src');
  if (!existsSync(dist)) throw new Stop('dist/ is not there: run `npm run build` first');
  const load = (module) => import(pathToFileURL(join(dist, module)).href);
  return {
    ...(await configurationPlaces(load)),
    ...(await protocolPlaces(load)),
    'internals/architecture.md': { layers: foldersTable() },
  };
}
