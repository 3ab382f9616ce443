// Constraints that take much work, each in another dimension: grammars, JSON Schemas and quotations.

const times = (text, count) => text.repeat(count);
const list = (count, itemOf) => Array.from({ length: count }, (_, n) => itemOf(n));
const alternatives = (count, itemOf) => list(count, itemOf).join(' | ');
const letters = alternatives(26, (n) => `"${String.fromCharCode(97 + n)}"`);
const object = (count, of) => Object.fromEntries(list(count, (n) => [`p${n}`, of(n)]));
/** Layers of two rules. Each rule calls both rules of the next layer, twice. */
const layers = (count) =>
  list(count, (n) => `r${n} ::= ${n + 1 === count ? '[a-z ]*' : `r${n + 1} r${n + 1} | r${n + 1} "a"`}`);

const grammars = {
  'optional classes, 7,000': 'root ::= ([!-~ ]?){7000} [!-~ ]*',
  'optional classes of all characters, 4,000': 'root ::= ([^"]?){4000} [^"]*',
  'optional lists of letters, 290': `root ::= ((${letters} | " ")?){290} [a-z ]*`,
  'a counted end': 'root ::= [a-z ]* "a" [a-z ]{0,6000}',
  'a counted end of all characters': 'root ::= [^"]* [aeiou] [^"]{0,8000}',
  'words of a list, or counted letters': `root ::= (${alternatives(5000, (n) => `"${n.toString(36)}"`)} | [a-z ]{0,3000})*`,
  'nested optional groups': `root ::= ${times('(', 400)}[a-z ]${times('? [a-z ])?', 399)})*`,
  'brackets around brackets': 'root ::= s*\ns ::= "(" s* ")" | "(" s* | [a-z ]',
  'two readings of each letter':
    'root ::= (a | b)*\na ::= [a-z ] | [a-z ] a\nb ::= [a-z ] | [a-z ] b "." | a b',
  'right recursion in 60 rules': `root ::= r0\n${list(60, (n) => `r${n} ::= [a-z ] r${(n + 1) % 60} "x"? | [a-z ] r${(n * 7 + 3) % 60} | [a-z ]`).join('\n')}`,
  'calls that stay open': `root ::= ${alternatives(30, (n) => `c${n}`)}\n${list(30, (n) => `c${n} ::= [a-z ] c${(n * 5 + 1) % 30} "${n % 10}" | [a-z ] c${(n * 11 + 7) % 30} "y" | [a-z ]`).join('\n')}`,
  'layers of two calls': `root ::= r0\n${layers(12).join('\n')}`,
  'long words that begin alike': `root ::= (${alternatives(800, (n) => `"${times('ab', 30)}${n}"`)} | [a-z ]+)*`,
  'a class of 20,000 characters, counted': 'root ::= ([一-鿿a-z ]{0,40} "."?){100}',
  'powers of two': 'root ::= [a-z ]* [a-m] ([a-z ]{2}){0,2000}',
  'every length of a word': `root ::= (${alternatives(120, (n) => `[a-z ]{${n + 1}} "${String.fromCharCode(97 + (n % 26))}"`)})*`,
};

const schemas = {
  'a list of 3,000 strings': { enum: list(3000, (n) => `${times('word ', 8)}${n}`) },
  'lists of lists of strings': list(30, (n) => n).reduce((items) => ({ type: 'array', items }), {
    type: 'string',
  }),
  '900 optional properties': { type: 'object', properties: object(900, () => ({ type: 'string' })) },
  '400 properties of one union': {
    type: 'object',
    properties: object(400, () => ({ $ref: '#/$defs/u' })),
    $defs: { u: { anyOf: list(60, (n) => ({ type: 'string', pattern: `^[a-z]{0,${n + 4}}$` })) } },
  },
  'a union that refers to itself': {
    $ref: '#/$defs/v',
    $defs: {
      v: {
        anyOf: [
          { type: 'array', items: { $ref: '#/$defs/v' } },
          { type: 'object', additionalProperties: { $ref: '#/$defs/v' } },
          ...list(20, (n) => ({ type: 'array', items: { $ref: '#/$defs/v' }, minItems: n % 5 })),
          { type: 'string' },
        ],
      },
    },
  },
  'a pattern with counted parts': { type: 'string', pattern: '^([a-z]{1,40} ?){1,40}[a-z]{0,400}$' },
  'strings of 0 to 12,000 characters': { type: 'string', maxLength: 12_000 },
  '60 strings with lengths of their own': {
    anyOf: list(60, (n) => ({ type: 'string', minLength: n, maxLength: n + 60 })),
  },
  'numbers between odd bounds': {
    type: 'array',
    items: {
      anyOf: list(40, (n) => ({ type: 'integer', minimum: n * 1_234_567, maximum: n * 9_876_543 + 7 })),
    },
  },
  'formats of strings': {
    type: 'array',
    items: {
      anyOf: ['date-time', 'uuid', 'email', 'uri', 'ipv4', 'ipv6', 'hostname'].map((format) => ({
        type: 'string',
        format,
      })),
    },
  },
};

/** A model goes on with a quotation. */
const quoting = 'He said “a a”, “the keeper”, “the lamp”, “a a”, “the keeper”, “the lamp”,';
const quotations = {
  'a megabyte of one letter': [times('a ', 500_000)],
  'a megabyte of one character without spaces': [times('蜜', 349_000)],
  'a megabyte of words': [list(170_000, (n) => `w${(n * 7919) % 9973}`).join(' ')],
  '20,000 like sentences': list(20_000, (n) => `the keeper lights the lamp ${n % 97}.`),
};

/** Each has a name and the options of LanguageModel.generate() that constrain. */
export const dearConstraints = [
  ...Object.entries(grammars).map(([name, grammar]) => ({ name, grammar })),
  ...Object.entries(schemas).map(([name, schema]) => ({ name, schema })),
  ...Object.entries(quotations).map(([name, texts]) => ({ name, quotes: { texts }, prompt: quoting })),
];
