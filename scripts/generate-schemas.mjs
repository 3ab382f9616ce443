// Writes schemas/*.schema.json from the zod schemas of dist/ (`npm run build` first), for editors that complete JSON.
// node scripts/generate-schemas.mjs --check | --write
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('generate-schemas', async (args) => {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean' }, write: { type: 'boolean' } } });
  if (values.check === values.write) throw new Stop('say --check or --write');
  const dist = join(root, 'dist', 'src');
  if (!existsSync(dist)) throw new Stop('dist/ is not there: run `npm run build` first');
  const { jsonSchemas } = await import(join(dist, 'knowledge', 'json-schemas.js'));
  const { configJsonSchema } = await import(join(dist, 'config', 'json-schema.js'));
  const { catalogJsonSchema } = await import(join(dist, 'catalog', 'schema.js'));
  const protocol = await import(join(dist, 'agents', 'nodes', 'json-schemas.js'));
  const texts = {
    ...jsonSchemas(),
    ...protocol.jsonSchemas(),
    'server-config.schema.json': configJsonSchema(),
    'model-catalog.schema.json': catalogJsonSchema(),
  };
  for (const [name, text] of Object.entries(texts)) {
    const path = join(root, 'schemas', name);
    if (values.write) writeFileSync(path, text);
    else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
      throw new Stop(
        `schemas/${name} is out of date; \`node scripts/generate-schemas.mjs --write\` makes it anew`,
      );
    }
  }
  process.stdout.write(`generate-schemas: ${values.write ? 'written' : 'current'}\n`);
});
