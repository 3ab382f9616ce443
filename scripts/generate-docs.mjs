// Writes the tables of docs/ that come from the zod schemas of dist/ (`npm run build` first), between the lines
// `<!-- begin NAME -->` and `<!-- end NAME -->`.
// node scripts/generate-docs.mjs --check | --write
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withMarkedPlace } from './tool/marked-place.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('generate-docs', async (args) => {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean' }, write: { type: 'boolean' } } });
  if (values.check === values.write) throw new Stop('say --check or --write');
  for (const [file, tables] of Object.entries(await generatedTables())) {
    const path = join(root, 'docs', file);
    const before = readFileSync(path, 'utf8');
    let after = before;
    for (const [name, table] of Object.entries(tables))
      after = withMarkedPlace(`docs/${file}`, after, name, table);
    if (values.write) writeFileSync(path, after);
    else if (after !== before) {
      throw new Stop(`docs/${file} is out of date; \`node scripts/generate-docs.mjs --write\` makes it anew`);
    }
  }
  process.stdout.write(`generate-docs: ${values.write ? 'written' : 'current'}\n`);
});

/** By file of docs/, then by the name of the place. */
async function generatedTables() {
  const dist = join(root, 'dist', 'src');
  if (!existsSync(dist)) throw new Stop('dist/ is not there: run `npm run build` first');
  const { configurationTable, flagsTable, variablesTable } = await import(
    join(dist, 'config', 'documentation.js')
  );
  const { failuresTable } = await import(join(dist, 'cli', 'documentation.js'));
  return {
    'configuration.md': { fields: configurationTable(), flags: flagsTable(), variables: variablesTable() },
    'cli.md': { failures: failuresTable() },
  };
}
