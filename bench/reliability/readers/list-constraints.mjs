// The readers of what constrains replies: grammars, JSON Schemas and their patterns. See list.mjs.
import { checkGrammar, matchGrammar, schemaGrammar } from '../../../dist/lib/internal.js';
import { refused, words } from './parts.mjs';

const mib = 1024 * 1024;

/** Converts a schema, and parses its grammar. */
async function converted(text) {
  const schema = await refused(() => JSON.parse(text));
  const grammar = schema && (await refused(() => schemaGrammar(schema)));
  if (grammar !== undefined && grammar.length <= mib) await refused(() => checkGrammar(grammar));
}

/** Numbers the definitions of a schema, and its values `%`: `@` is the number of the latest one, and `^` of the next. */
function numbered(text) {
  let count = 0;
  return text.replaceAll(/"d@":|[@^%]/g, (found) => {
    if (found === '@') return count;
    if (found === '^') return count + 1;
    if (found === '%') return ++count;
    return `"d${++count}":`;
  });
}

const next = '{"$ref":"#/$defs/d^"}';
const web = (head, unit) => ({ head, unit, tail: '"d^":{"const":1}}}' });
const from = (keyword) => `{${keyword},"$defs":{`;
const first = '{"$ref":"#/$defs/d1"}';

export const constraints = [
  {
    name: 'grammars',
    limit: 65_536,
    tokens: [
      ...words('root ::= | ( ) ? * + {2} {0,9} {1000} "a" [a-z] [^a] [ ] " \\x41 \\ # r s .'),
      '\n',
      ' ',
      'root ::= r\n',
      'r ::= r? "a"\n',
    ],
    seeds: [
      { head: 'root ::= ', unit: '("a"?){9} ' },
      { head: 'root ::= ', unit: '(', tail: '"a"', close: '?)' },
      { head: 'root ::= (', unit: '"a"? ', tail: '){99} [ab]*' },
    ],
    read: (text) => refused(() => checkGrammar(text)),
  },
  {
    name: 'texts for grammars',
    limit: 16_384,
    tokens: words('a b ab " \\ { } [ ] , : 1 x'),
    read: async (text) => {
      for (const grammar of [
        'root ::= ("a"?){4000} [ab]*',
        'root ::= (a | b)* "b"\na ::= "a"*\nb ::= "a"+',
        await schemaGrammar({ type: 'object' }),
      ])
        await refused(() => matchGrammar(grammar, text));
    },
  },
  {
    name: 'JSON Schema',
    limit: 262_144,
    tokens: [
      ...words(
        '{ } [ ] , : "a" 1 true null {}, "\\"\\\\" {"const":"\\""}, {"type":"string"}, "enum": "anyOf": "oneOf": "properties": "items": "pattern":"a*" "$ref":"#"',
      ),
      '{"type":"array","items":',
    ],
    seeds: [
      { head: '{"const":"', unit: '\\"\\\\', tail: '"}' },
      { head: '{"enum":[', unit: '"\\"a",', tail: '1]}' },
      { head: '{"anyOf":[', unit: '{"type":"integer"},', tail: '{}]}' },
      { head: '{"oneOf":[', unit: '{"const":[1]},', tail: '{"const":2}]}' },
      { head: '', unit: '{"type":"array","items":', tail: '{}', close: '}' },
      { head: '{"type":"string","pattern":"', unit: '(a|b)?', tail: '"}' },
      { head: '{"type":"object","properties":{"a":1', unit: ',"a":{"type":"null"}', tail: '}}' },
    ],
    read: converted,
  },
  {
    name: 'definitions of JSON Schema',
    limit: 65_536,
    tokens: [
      ...words(
        '{ } [ ] , : "a" 1 {} "allOf":[ "anyOf":[ "oneOf":[ "not": "if": "then": "required":["a@"] "items": "prefixItems":[ "const":@ "enum":[@] "minProperties":9',
      ),
      `"d@":{"allOf":[${next},${next}]},`,
      '"d@":{"required":["a@"]},',
      `"properties":{"p@":${next}}`,
      '"pattern":"(a|b)*a(a|b){@}"',
      `"dependentRequired":{"a@":["a^"]}`,
      next,
    ],
    seeds: [
      ...['allOf', 'anyOf', 'oneOf'].map((keyword) =>
        web(from(`"not":${first}`), `"d@":{"${keyword}":[${next},${next}]},`),
      ),
      web(from(`"if":${first}`), `"d@":{"allOf":[${next},${next}]},`),
      web(from(`"$ref":"#/$defs/d1"`), `"d@":{"allOf":[${next},${next}]},`),
      web(from(`"$ref":"#/$defs/d1"`), `"d@":{"properties":{"p@":${next},"q":${next}}},`),
      web(from(`"$ref":"#/$defs/d1"`), `"d@":{"not":{"allOf":[${next},{"const":@}]}},`),
      { head: '{"allOf":[', unit: '{"required":["a%"]},', tail: '{}]}' },
      { head: '{"oneOf":[', unit: '{"const":"c%"},', tail: '{"const":0}]}' },
      { head: '{"prefixItems":[', unit: '{"type":"array","maxItems":%},', tail: '{}]}' },
      {
        head: '{"type":"string","not":{"enum":[',
        unit: '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%",',
        tail: '1]}}',
      },
      { head: '{"enum":["a","b","c"],"not":{"const":"', unit: 'a', tail: '"}}' },
      { head: '{"minProperties":2000,"properties":{', unit: '"d@":{},', tail: '"z":{}}}' },
      {
        head: '{"dependentRequired":{',
        unit: '"d@":["d^","a"],',
        tail: '"z":["y"]},"properties":{"d1":{}}}',
      },
    ],
    read: (text) => converted(numbered(text)),
  },
  {
    name: 'patterns of JSON Schema',
    limit: 1000,
    tokens: words('a . * + ? {2} {1,9} {1000} ( ) (?: | [a-z] [^a] \\d \\w \\ ^ $ [ ]'),
    seeds: [{ head: '', unit: '(', tail: 'a', close: '?)' }],
    read: async (pattern) => {
      const grammar = await refused(() => schemaGrammar({ type: 'string', pattern }));
      if (grammar !== undefined) await refused(() => checkGrammar(grammar));
    },
  },
];
