// Writes lib/generation/schema/format-grammars.gen.ts from the patterns of formats in dist/ (`npm run build` first): deriving their
// automata takes tens of milliseconds in a new process.
// node scripts/generate-formats.mjs --check | --write
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

const file = 'lib/generation/schema/format-grammars.gen.ts';

await runScript('generate-formats', async (args) => {
  const { values } = parseArgs({ args, options: { check: { type: 'boolean' }, write: { type: 'boolean' } } });
  if (values.check === values.write) throw new Stop('say --check or --write');
  const dist = join(root, 'dist', 'lib', 'generation');
  if (!existsSync(dist)) throw new Stop('dist/ is not there: run `npm run build` first');
  const { knownFormats } = await import(join(dist, 'schema', 'string-formats.js'));
  const { formatGrammar } = await import(join(dist, 'schema', 'format-grammar.js'));
  const grammars = knownFormats.map((format) => [format, formatGrammar(format)]);
  const text = `// Written by scripts/generate-formats.mjs.
import type { FormatGrammar } from './format-grammar.js';

/** The grammars of the formats that have a pattern. */
export const formatGrammars: ReadonlyMap<string, FormatGrammar> = new Map(${JSON.stringify(grammars, null, 2)});
`;
  const path = join(root, file);
  if (values.write) writeFileSync(path, text);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text)
    throw new Stop(`${file} is out of date; \`npm run generate\` writes it`);
  process.stdout.write(`generate-formats: ${values.write ? 'written' : 'current'}\n`);
});
