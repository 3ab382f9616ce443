// Writes lib/generation/schema/format-automata.gen.ts from the patterns of formats in dist/ (`npm run build` first): deriving their
// automata takes tens of milliseconds in a new process. The dearest patterns that zod writes beside formats are derived, too.
// node scripts/generate-formats.mjs --check | --write
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

const file = 'lib/generation/schema/format-automata.gen.ts';

await runScript('generate-formats', async (args) => {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean' }, write: { type: 'boolean' } } });
  if (values.check === values.write) throw new Stop('say --check or --write');
  const dist = join(root, 'dist', 'lib', 'generation');
  if (!existsSync(dist)) throw new Stop('dist/ is not there: run `npm run build` first');
  const { formatKey, knownFormats } = await import(join(dist, 'schema', 'string-formats.js'));
  const { formatAutomaton } = await import(join(dist, 'schema', 'format-automaton.js'));
  const shapes = [
    ...knownFormats.map((format) => ({ format })),
    ...ofZod().map((type) => z.toJSONSchema(type)),
  ];
  const automata = shapes.map(({ format, pattern }) => [
    formatKey(format, pattern),
    formatAutomaton(format, pattern),
  ]);
  const text = `// Written by scripts/generate-formats.mjs.
/** The automata of the formats that have a pattern, and of those with one beside them, as texts. */
export const formatAutomata: ReadonlyMap<string, string> = new Map(${JSON.stringify(automata, null, 2)});
`;
  const path = join(root, file);
  if (values.write) writeFileSync(path, text);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text)
    throw new Stop(`${file} is out of date; \`npm run generate\` writes it`);
  process.stdout.write(`generate-formats: ${values.write ? 'written' : 'current'}\n`);
});

function ofZod() {
  const { date, datetime, duration } = z.iso;
  const times = [{}, { offset: true }, { local: true }, { precision: 0 }, { precision: 3 }].map(datetime);
  const addresses = [z.email(), z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6(), z.hostname()];
  return [...addresses, z.uuid(), z.guid(), z.uuidv4(), z.uuidv7(), date(), ...times, duration()];
}
