// How long a dear schema takes until it is refused: schemas of many kinds, each larger than the one before, until one is refused.
//
//   node bench/grammar/refusals.mjs [PART OF A NAME]
//
// Each kind runs in a process of its own. `first` is the first conversion and check of that size in it, when little is compiled
// yet; `again` is the median of nine more. Times are by the clock, so the machine should be quiet. The target is 100 ms.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { checkGrammar, schemaGrammar } from '../../dist/lib/internal.js';
import { load, machine } from '../harness/machine.mjs';
import { median } from '../harness/numbers.mjs';
import { terminalTable } from '../harness/table.mjs';

const list = (count, itemOf = (n) => n) => Array.from({ length: count }, (_, n) => itemOf(n));
const object = (count, of) => Object.fromEntries(list(count, (n) => [`p${n}`, of(n)]));
const times = (text, count) => text.repeat(count);
// An object with a key of this name would be taken for a promise.
const then = 'then';
const letter = (n) => String.fromCharCode(97 + (n % 26));
const pattern = (text) => ({ type: 'string', pattern: text });

/** By kind: the schema of a size. */
const kinds = {
  'a list of strings': (n) => ({ enum: list(n * 200, (i) => times('word ', 8) + i) }),
  'a list of objects': (n) => ({ enum: list(n * 100, (i) => ({ a: i, b: ['x', i] })) }),
  'counts within counts': (n) => pattern(`^([a-z]{1,${n}} ?){1,${n}}[a-z]{0,${10 * n}}$`),
  'alternatives of words': (n) => pattern(`^(${list(n * 20, (i) => `w${i}[a-z]{0,3}`).join('|')})*$`),
  'Unicode classes': (n) => pattern(`^${list(n, (i) => `[\\p{L}a-z${i % 10}]{0,5}`).join('')}$`),
  'properties with patterns': (n) => ({
    type: 'object',
    properties: object(n * 4, (i) => pattern(`^[a-z]{0,${i + 4}}[0-9]{${i % 7},${(i % 7) + 5}}$`)),
  }),
  'properties of one union': (n) => ({
    type: 'object',
    properties: object(n * 4, () => ({ $ref: '#/$defs/u' })),
    $defs: { u: { anyOf: list(n, (i) => pattern(`^[a-z]{0,${i + 4}}$`)) } },
  }),
  'pattern properties': (n) => ({
    type: 'object',
    patternProperties: Object.fromEntries(
      list(n, (i) => [`^p${i}[a-z]{0,${i}}$`, { type: 'integer', minimum: i }]),
    ),
    additionalProperties: false,
  }),
  'not in a list': (n) => ({ type: 'string', not: { enum: list(n * 20, (i) => times('ab', 10) + i) } }),
  'not a pattern': (n) => ({ type: 'string', not: { pattern: `a[a-z]{${n}}b` } }),
  'many patterns at once': (n) => ({
    type: 'string',
    allOf: list(Math.min(n, 40), (i) => ({ pattern: `^[a-z]*${letter(i)}[a-z]{${i}}` })),
  }),
  'ranges of numbers': (n) => ({
    anyOf: list(n * 4, (i) => ({ type: 'number', minimum: i * 1.37, maximum: 1e9 + i * 13.7 })),
  }),
  multiples: (n) => ({ type: 'integer', multipleOf: n * 97 + 1 }),
  'one of overlapping lengths': (n) => ({
    oneOf: list(n, (i) => ({ type: 'string', minLength: i, maxLength: i + 20 })),
  }),
  'objects with strings of many lengths': (n) => ({
    anyOf: list(n, (i) => ({
      type: 'object',
      properties: object(20, (j) => ({ type: 'string', maxLength: i + j })),
      required: [`p${i % 20}`],
    })),
  }),
  'parts of an object': (n) => ({
    type: 'object',
    allOf: list(n, (i) => ({ properties: { [`q${i}`]: { type: 'string' } } })),
    unevaluatedProperties: false,
  }),
  conditions: (n) => ({
    type: 'object',
    properties: { k: { enum: list(n, (i) => `v${i}`) } },
    allOf: list(n, (i) => ({
      if: { properties: { k: { const: `v${i}` } } },
      [then]: { required: [`r${i}`] },
    })),
  }),
  'items with patterns': (n) => ({
    type: 'array',
    prefixItems: list(n * 10, (i) => pattern(`^${i}[a-f]{${i % 9}}$`)),
  }),
  'formats with lengths': (n) => ({
    type: 'object',
    properties: object(n * 2, (i) => ({
      type: 'string',
      format: ['date-time', 'email', 'uri', 'ipv6', 'uuid', 'hostname', 'duration'][i % 7],
      maxLength: 20 + i,
    })),
  }),
  'a chain of references': (n) => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      list(n * 10, (i) => [
        `d${i}`,
        i === n * 10 - 1
          ? { type: 'string' }
          : {
              anyOf: [
                { $ref: `#/$defs/d${i + 1}` },
                { type: 'array', items: { $ref: `#/$defs/d${(i * 7) % (n * 10)}` } },
              ],
            },
      ]),
    ),
  }),
  'names of a pattern': (n) => ({
    type: 'object',
    propertyNames: { pattern: `^[a-z]{1,${n}}(_[a-z]{1,${n}}){0,${n}}$` },
    additionalProperties: { type: 'integer' },
  }),
};
const sizes = [5, 10, 20, 40, 80, 160, 320, 640, 1280];

/** The refusal of a schema, and the milliseconds until then. */
async function answered(schema) {
  const begin = performance.now();
  let refusal;
  try {
    const grammar = await schemaGrammar(schema);
    if (grammar !== undefined) await checkGrammar(grammar);
  } catch (error) {
    refusal = error.message;
  }
  return { refusal, ms: performance.now() - begin };
}

/** The first schema of a kind that is refused, and its times. */
async function refused(kind) {
  for (const size of sizes) {
    const schema = kinds[kind](size);
    const { refusal, ms } = await answered(schema);
    if (refusal === undefined) continue;
    const again = [];
    for (let round = 0; round < 9; round++) again.push((await answered(schema)).ms);
    return { size, first: ms, again: median(again), refusal: refusal.slice(0, 72) };
  }
  return { size: sizes.at(-1), refusal: 'never' };
}

const [argument = '', kind] = process.argv.slice(2);
if (argument === '--kind') {
  console.log(JSON.stringify(await refused(kind)));
} else {
  const rows = Object.keys(kinds)
    .filter((name) => name.includes(argument))
    .map((name) => {
      const args = [fileURLToPath(import.meta.url), '--kind', name];
      const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      if (status !== 0) throw new Error(`${name}: ${stderr}`);
      return { name, ...JSON.parse(stdout) };
    });
  console.log(JSON.stringify({ ...machine(), load: load() }));
  console.log(
    terminalTable({
      title: 'Schemas that are refused',
      columns: [
        { key: 'name', label: '' },
        { key: 'size', label: 'size', digits: 0 },
        { key: 'first', label: 'first, ms', digits: 0 },
        { key: 'again', label: 'again, ms', digits: 0 },
        { key: 'refusal', label: 'refusal' },
      ],
      rows,
    }),
  );
}
