// Writes schemas/*.schema.json and the frames of the clients from the zod schemas of dist/ (`npm run build` first).
// node scripts/generate-schemas.mjs --check | --write
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { frameFiles } from './client-languages/frame-files.mjs';
import { clientTypes } from './client-types/client-types.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

const named = (texts) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [`schemas/${name}`, text]));

await runScript('generate-schemas', async (args) => {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean' }, write: { type: 'boolean' } } });
  if (values.check === values.write) throw new Stop('say --check or --write');
  const dist = join(root, 'dist', 'src');
  if (!existsSync(dist)) throw new Stop('dist/ is not there: run `npm run build` first');
  const { jsonSchemas } = await import(join(dist, 'knowledge', 'json-schemas.js'));
  const { configJsonSchema } = await import(join(dist, 'config', 'json-schema.js'));
  const { catalogJsonSchema } = await import(join(dist, 'models', 'schema.js'));
  const protocol = await import(join(dist, 'agents', 'wire', 'json-schemas.js'));
  const { text: clientFrames, undescribed } = await clientTypes((name) => import(join(dist, `${name}.js`)));
  if (undescribed.length > 0) throw new Stop(`fields without describe(): ${undescribed.join(', ')}`);
  const { errorTable } = await import(join(dist, 'protocol', 'errors.js'));
  const { protocolVersion } = await import(join(dist, 'protocol', 'version.js'));
  const frames = protocol.jsonSchemas();
  const texts = {
    ...named(jsonSchemas()),
    ...named(frames),
    ...frameFiles(JSON.parse(frames['protocol.schema.json']), errorTable, protocolVersion),
    'schemas/server-config.schema.json': configJsonSchema(),
    'schemas/model-catalog.schema.json': catalogJsonSchema(),
    'src/client/frames.gen.ts': clientFrames,
  };
  for (const [name, text] of Object.entries(texts)) {
    const path = join(root, name);
    if (values.write) writeFileSync(path, text);
    else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
      throw new Stop(`${name} is out of date; \`npm run generate\` writes it`);
    }
  }
  process.stdout.write(`generate-schemas: ${values.write ? 'written' : 'current'}\n`);
});
