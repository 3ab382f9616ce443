// Counts how the grammars of JSON Schemas do on a copy of the JSON Schema Test Suite (draft 2020-12). Prints a line per file, and
// every invalid instance that a grammar allows. Build first.
// node tools/schema-suite.mjs FOLDER   FOLDER: a checkout of github.com/json-schema-org/JSON-Schema-Test-Suite
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { matchGrammar, schemaGrammar } from '../dist/lib/internal.js';

const suite = join(process.argv[2] ?? '.', 'tests', 'draft2020-12');
const all = { accepted: 0, refused: 0, allowed: 0, valid: 0, written: 0 };

for (const folder of [suite, join(suite, 'optional', 'format')])
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json')))
    await count(file, JSON.parse(readFileSync(join(folder, file), 'utf8')));
console.log('all', all);

async function count(file, groups) {
  const counts = { accepted: 0, refused: 0, allowed: 0, valid: 0, written: 0 };
  const reasons = new Set();
  for (const { description, schema, tests } of groups) {
    let grammar;
    try {
      grammar = await schemaGrammar(schema);
      counts.accepted++;
    } catch (error) {
      if (error.code !== 'INVALID_ARGUMENT') throw error;
      counts.refused++;
      reasons.add(error.message.slice(0, 120));
      continue;
    }
    for (const { description: of, data, valid } of tests) {
      const conforms = (await matchGrammar(grammar, JSON.stringify(data))) === 'conforms';
      if (valid) counts.valid++;
      if (valid && conforms) counts.written++;
      if (valid || !conforms) continue;
      counts.allowed++;
      console.log(`invalid, but allowed: ${file}: ${description}: ${of}`);
    }
  }
  for (const name in counts) all[name] += counts[name];
  console.log(file, JSON.stringify(counts), ...[...reasons].map((reason) => `\n    ${reason}`));
}
