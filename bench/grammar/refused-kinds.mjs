// Schemas and grammars of many kinds, by size, for refusals.mjs.

const list = (count, itemOf = (n) => n) => Array.from({ length: count }, (_, n) => itemOf(n));
const object = (count, of) => Object.fromEntries(list(count, (n) => [`p${n}`, of(n)]));
const times = (text, count) => text.repeat(count);
// An object with a key of this name would be taken for a promise.
const then = 'then';
const properties = [
  'L',
  'Lu',
  'Ll',
  'N',
  'P',
  'S',
  'Z',
  'Script=Greek',
  'Script=Cyrillic',
  'Script=Han',
  'Emoji',
  'M',
  'Sc',
  'ID_Start',
  'Alphabetic',
  'Uppercase',
];
const letter = (n) => String.fromCharCode(97 + (n % 26));
const pattern = (text) => ({ type: 'string', pattern: text });

const schemas = {
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
  'Unicode properties': (n) =>
    pattern(`^${list(n, (i) => `(\\p{${properties[i % properties.length]}}{1,${n}}-?)`).join('')}$`),
  'repetitions four deep': (n) => pattern(`^(((([a-f]{0,${n}}g){0,${n}}h){0,${n}}i){0,${n}})$`),
  'words with boundaries': (n) => pattern(list(n, (i) => `\\bw${i}\\b`).join('.*')),
  'look-ahead': (n) => pattern(`^${list(n, (i) => `(?=.*${letter(i)}.{${i}})`).join('')}.*$`),
  'negative look-ahead': (n) => pattern(`^${list(n, (i) => `(?!.*w${i}x{${i % 5}})`).join('')}.*$`),
  'long words in a pattern': (n) => pattern(`^(${list(n, (i) => `${times('long', 20)}${i}`).join('|')})$`),
  'classes of many ranges': (n) =>
    pattern(
      `^${list(n, (i) => `[${list(30, (j) => `\\u{${(0x100 + 97 * i + 7 * j).toString(16)}}`).join('')}]{0,9}`).join('')}$`,
    ),
  'lists of strings beside patterns': (n) => ({
    enum: list(n * 50, (i) => times('word ', 4) + i),
    pattern: '^[a-z]+( [a-z]+)* [0-9]+$',
  }),
  'lists of strings that lack others': (n) => ({
    enum: list(n * 50, (i) => `v${i}`),
    not: { enum: list(n * 50, (i) => `v${2 * i}`) },
  }),
  'a list in two schemas': (n) => ({
    allOf: [{ enum: list(n * 50, (i) => ({ a: i })) }, { enum: list(n * 50, (i) => ({ a: 2 * i })) }],
  }),
  'objects without optional properties': (n) => ({
    type: 'object',
    properties: object(n * 5, (i) => ({ type: ['string', 'integer', 'boolean'][i % 3] })),
    required: list(n * 5, (i) => `p${i}`),
  }),
  'objects with bounds of properties': (n) => ({
    type: 'object',
    properties: object(n * 2, () => ({ type: 'string' })),
    minProperties: n,
    maxProperties: n + 5,
  }),
  'objects in objects': (n) => ({
    type: 'object',
    properties: object(n, (i) => ({
      type: 'object',
      properties: object(n, (j) => ({ const: `${i} ${j}` })),
    })),
  }),
  'one of objects with a kind': (n) => ({
    oneOf: list(n, (i) => ({
      type: 'object',
      properties: { kind: { const: `k${i}` }, ...object(5, () => ({ type: 'string' })) },
      required: ['kind'],
    })),
  }),
  'one of objects with names of their own': (n) => ({
    oneOf: list(n, (i) => ({ type: 'object', properties: { [`a${i}`]: {} }, required: [`a${i}`] })),
  }),
  'one of patterns': (n) => ({
    oneOf: list(n, (i) => pattern(`^${letter(i)}${times(letter(i), i % 9)}[0-9]{0,${n}}$`)),
  }),
  'one of ranges': (n) => ({
    oneOf: list(n, (i) => ({ type: 'number', minimum: i, exclusiveMaximum: i + 1 })),
  }),
  'all of unions': (n) => ({
    allOf: list(Math.ceil(n / 5), (i) => ({
      anyOf: list(4, (j) => ({ type: 'object', required: [`a${i}${j}`] })),
    })),
  }),
  'all of patterns': (n) => ({
    type: 'string',
    allOf: list(n, (i) => ({ pattern: `^[^${letter(i)}]{${i},${i + 40}}` })),
  }),
  'all of objects': (n) => ({
    allOf: list(n, (i) => ({ type: 'object', properties: object(20, (j) => ({ maxLength: i + j })) })),
  }),
  'dependent properties': (n) => ({
    type: 'object',
    properties: object(n, () => ({ type: 'string' })),
    dependentRequired: Object.fromEntries(list(Math.ceil(n / 4), (i) => [`p${i}`, [`p${i + 1}`]])),
  }),
  'a web of references': (n) => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      list(n, (i) => [
        `d${i}`,
        { type: 'object', properties: object(n, (j) => ({ $ref: `#/$defs/d${(i * 7 + j) % n}` })) },
      ]),
    ),
  }),
  'unions of references': (n) => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      list(n, (i) => [
        `d${i}`,
        {
          anyOf: [
            { type: 'null' },
            ...list(n, (j) => ({ type: 'array', items: { $ref: `#/$defs/d${(i + j) % n}` } })),
          ],
        },
      ]),
    ),
  }),
  'negated objects': (n) => ({
    type: 'object',
    not: { properties: object(n, (i) => ({ const: i })), required: list(n, (i) => `p${i}`) },
  }),
  'dates of many lengths': (n) => ({
    type: 'array',
    prefixItems: list(n, (i) => ({
      type: 'string',
      format: 'date-time',
      minLength: i % 30,
      maxLength: 20 + (i % 20),
    })),
  }),
  'dates beside patterns': (n) => ({
    type: 'array',
    prefixItems: list(n, (i) => ({ type: 'string', format: 'date', pattern: `^${1900 + i}-` })),
  }),
  'addresses beside patterns': (n) => ({
    type: 'array',
    prefixItems: list(n, (i) => ({ type: 'string', format: 'uri', pattern: `^https://h${i}\\.example/` })),
  }),
  'names beside patterns': (n) => ({
    type: 'object',
    properties: object(n * 10, () => ({ type: 'string' })),
    patternProperties: Object.fromEntries(list(5, (i) => [`^p[0-9]*${i}$`, { maxLength: n + i }])),
    additionalProperties: { type: 'integer' },
  }),
  'items of a list, each once': (n) => ({
    type: 'array',
    uniqueItems: true,
    items: { enum: list(Math.min(n * 4, 256), (i) => `v${i}`) },
    minItems: Math.min(n, 120),
  }),
  'decimals with bounds': (n) => ({
    type: 'object',
    properties: object(n, (i) => ({ type: 'number', minimum: -1.37 * i, maximum: 1e6 + i * 13.7 })),
  }),
  'integers with bounds': (n) => ({
    type: 'object',
    properties: object(n, (i) => ({ type: 'integer', minimum: -i * 137, maximum: 1e12 + i * 137 })),
  }),
  'integers of many digits': (n) => ({
    type: 'integer',
    minimum: 0,
    maximum: BigInt(`1${times('37', Math.min(n * 20, 4000))}`),
  }),
  'multiples of decimals': (n) => ({
    type: 'number',
    multipleOf: n / 1000 + 0.001,
    minimum: 0,
    maximum: 1e6,
  }),
  'bounds of lengths': (n) => ({
    type: 'array',
    prefixItems: list(n * 4, (i) => ({ type: 'string', minLength: i, maxLength: 2 * i + 100 })),
  }),
  'numbers that are left out': (n) => ({ type: 'integer', not: { enum: list(n * 4, (i) => i * 977) } }),
};

const digits = '[0-9]';
const grammars = {
  'a long list of words': (n) => `root ::= ${list(n * 200, (i) => `"w${i}"`).join(' | ')}`,
  'optional classes in a row': (n) => `root ::= ([!-@]?){${n * 20}} [!-@]*`,
  'counted groups of counted groups': (n) => `root ::= (([a-z]{0,${n}} "."?){0,${n}} ","?){0,${n}}`,
  'rules that call the next two': (n) =>
    list(
      n,
      (i) =>
        `${i === 0 ? 'root' : `r${i}`} ::= ${i < n - 1 ? `r${i + 1} "a"? | ${i < n - 2 ? `r${i + 2}` : `r${i + 1}`}` : '"x"'}`,
    ).join('\n'),
  'right recursion': (n) =>
    `root ::= r0\n${list(n, (i) => `r${i} ::= [a-z] r${(i + 1) % n} "x"? | [a-z]`).join('\n')}`,
  'two readings of each character': (n) => `root ::= (a | b)*\na ::= [a-z]{1,${n}}\nb ::= [a-z]{1,${n}} "."?`,
  'long literals': (n) => `root ::= ${list(n, (i) => JSON.stringify(times('word', 500) + i)).join(' | ')}`,
  'classes of many characters': (n) =>
    `root ::= (${list(n * 10, (i) => `[${String.fromCodePoint(0x4e00 + 3 * i, 0x3042, 0x3050 + (i % 40))}]`).join(' | ')})*`,
  'groups within groups': (n) => `root ::= ${times('(', n * 10)}${digits}${times(')?', n * 10)}`,
  'many unused rules': (n) =>
    `root ::= "a"\n${list(n * 200, (i) => `r${i} ::= "b" ${digits}{0,3}`).join('\n')}`,
};

/** By kind: the schema, or the grammar as a text, of a size. */
export const kinds = {
  ...schemas,
  ...Object.fromEntries(Object.entries(grammars).map(([name, of]) => [`grammar: ${name}`, of])),
};
