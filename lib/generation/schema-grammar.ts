import { integerRange } from '../boundary/integer-range.js';
import { patternGrammar } from './pattern-grammar.js';
import {
  annotations,
  bounds,
  checkSize,
  escapePointer,
  hasType,
  keywordsOf,
  type Leads,
  leadsToItself,
  only,
  refuse,
  refuseOverlap,
  type Schema,
  targetOf,
  typesOf,
} from './schema-checks.js';

/** Keywords that need a value's type, and that no grammar of ours enforces. */
const unenforced: Readonly<Record<string, string>> = {
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number or integer',
};

const knownKeywords: ReadonlySet<string> = new Set([
  ...annotations,
  'type',
  ...Object.values(keywordsOf).flat(),
  ...Object.keys(unenforced),
]);

/** Limits of one schema: its subschemas, their nesting, their constants, and the characters of its grammar. */
const maxSchemas = 5000;
const maxConstants = 20_000;
const deepest = 100;
const maxCharacters = 1_000_000;

const sharedRules = {
  space: '| " " | "\\n"{1,2} [ \\t]{0,20}',
  char: '[^"\\\\\\x00-\\x1f\\x7f] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
  // Without \u: two such escapes may be one character.
  character: '[^"\\\\\\x00-\\x1f\\x7f] | "\\\\" ["\\\\/bfnrt]',
  string: '"\\"" char* "\\""',
  boolean: '"true" | "false"',
  null: '"null"',
  // 15 digits: a number of JavaScript holds each exactly.
  integer: '"-"? ("0" | [1-9] [0-9]{0,14})',
  number: 'integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?',
  object: '"{" space (string ":" space value ("," space string ":" space value)*)? space "}"',
  array: '"[" space (value ("," space value)*)? space "]"',
  value: 'object | array | string | number | boolean | null',
} as const;

const formats: Readonly<Record<string, string>> = {
  date: '[0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | "1" [0-9] | "2" [0-8])',
  time: '("0" [0-9] | "1" [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,3})? "Z"',
  uuid: '[0-9a-f]{8} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{12}',
};

/**
 * Returns a GBNF grammar whose texts are JSON values that the schema allows. Properties come in the order of the schema, and
 * only named ones. Rule names begin with `name`, which is the start rule.
 * @throws INVALID_ARGUMENT with `detail.pointer` (JSON pointer) for a keyword that the grammar cannot enforce, and for more than
 * 5000 subschemas, 20,000 constants, 100,000 values or 1,000,000 characters
 */
export function schemaGrammar(schema: unknown, name = 'root'): string {
  checkSize(schema);
  const converter = new Converter(schema, name);
  return converter.grammar();
}

class Converter {
  readonly #root: unknown;
  readonly #name: string;
  readonly #rules = new Map<string, string>();
  /** Rules of `$ref` targets, by pointer. */
  readonly #references = new Map<string, string>();
  readonly #leads: Leads = new Map();
  /** Expressions of shared rules, with the names of this grammar. */
  readonly #used = new Map<string, string>();
  #schemas = 0;
  #constantsSeen = 0;
  #depth = 0;
  #characters = 0;

  constructor(root: unknown, name: string) {
    this.#root = root;
    this.#name = name;
  }

  grammar(): string {
    this.#add(this.#name, this.#value(this.#root, ''));
    const shared = Object.entries(sharedRules).map(([name, body]) => [
      this.#shared(name),
      this.#renamed(body),
    ]);
    const own = [...this.#rules].map(([name, body]) => `${name} ::= ${body}`);
    return [...own, ...shared.map(([name, body]) => `${name} ::= ${body}`)].join('\n');
  }

  /** Shared rules have distinct names, so that two grammars can be one text. */
  #shared(name: string): string {
    return `${this.#name}-json-${name}`;
  }

  #renamed(body: string): string {
    const names = Object.keys(sharedRules).join('|');
    // Not within literals and classes.
    return body.replace(
      new RegExp(`"(?:[^"\\\\]|\\\\.)*"|\\[(?:[^\\]\\\\]|\\\\.)*\\]|\\b(${names})\\b`, 'g'),
      (all, name) => (name === undefined ? all : this.#shared(name)),
    );
  }

  #use(body: string): string {
    const known = this.#used.get(body);
    if (known !== undefined) return known;
    const renamed = this.#renamed(body);
    this.#used.set(body, renamed);
    return renamed;
  }

  #add(name: string, body: string): string {
    this.#characters += name.length + body.length;
    if (this.#characters > maxCharacters) refuse('', `its grammar has more than ${maxCharacters} characters`);
    this.#rules.set(name, body);
    return name;
  }

  /** Adds a rule and returns its name. */
  #rule(body: string): string {
    return this.#add(`${this.#name}-${this.#rules.size + 1}`, body);
  }

  /** Returns an expression for the values of a schema. */
  #value(schema: unknown, at: string): string {
    if (++this.#schemas > maxSchemas) refuse(at, `more than ${maxSchemas} schemas`);
    if (++this.#depth > deepest) refuse(at, `nested deeper than ${deepest}`);
    try {
      return this.#values(schema, at);
    } finally {
      this.#depth--;
    }
  }

  #values(schema: unknown, at: string): string {
    if (schema === true) return this.#use('value');
    if (schema === false) refuse(at, 'false allows no value');
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      refuse(at, 'a schema is expected: an object, true or false');
    const given = schema as Schema;
    if (given.$ref !== undefined) return this.#reference(given, at);
    for (const combiner of ['anyOf', 'oneOf', 'allOf'] as const)
      if (given[combiner] !== undefined) return this.#combination(given, combiner, at);
    if (given.const !== undefined || given.enum !== undefined) return this.#constants(given, at);
    return this.#typed(given, at);
  }

  #reference(schema: Schema, at: string): string {
    only(schema, ['$ref'], at);
    const { $ref: pointer } = schema;
    const place = `${at}/$ref`;
    if (typeof pointer !== 'string' || !/^#(\/|$)/.test(pointer))
      refuse(place, 'only references within the schema (#/...) are possible');
    const known = this.#references.get(pointer);
    if (known !== undefined) return known;
    const target = targetOf(this.#root, pointer);
    if (target === undefined) refuse(place, `${JSON.stringify(pointer.slice(0, 128))} is not in the schema`);
    if (leadsToItself(this.#root, pointer, this.#leads)) refuse(place, 'the reference leads back to itself');
    const rule = this.#add(`${this.#name}-ref-${this.#references.size + 1}`, '');
    this.#references.set(pointer, rule);
    return this.#add(rule, this.#value(target, decodeURIComponent(pointer.slice(1))));
  }

  #combination(schema: Schema, combiner: 'anyOf' | 'oneOf' | 'allOf', at: string): string {
    only(schema, [combiner], at);
    const options = schema[combiner];
    const place = `${at}/${combiner}`;
    if (!Array.isArray(options) || options.length === 0) refuse(place, 'a non-empty array is expected');
    if (combiner === 'allOf' && options.length > 1)
      refuse(place, 'cannot be enforced; write the constraints into one schema');
    if (combiner === 'oneOf') refuseOverlap(options, place);
    return group(options.map((option, index) => this.#value(option, `${place}/${index}`)));
  }

  #constants(schema: Schema, at: string): string {
    only(schema, ['const', 'enum', 'type'], at);
    if (schema.enum !== undefined && (!Array.isArray(schema.enum) || schema.enum.length === 0))
      refuse(`${at}/enum`, 'a non-empty array is expected');
    const all = schema.const === undefined ? (schema.enum as unknown[]) : [schema.const];
    this.#constantsSeen += all.length;
    if (this.#constantsSeen > maxConstants) refuse(at, `more than ${maxConstants} constants in the schema`);
    const wanted = schema.type === undefined ? undefined : typesOf(schema, at);
    const texts = all
      .filter((value) => wanted === undefined || wanted.some((type) => hasType(value, type)))
      .map((value) => JSON.stringify(value));
    const both = schema.const !== undefined && schema.enum !== undefined;
    const listed = both ? (schema.enum as unknown[]).map((value) => JSON.stringify(value)) : texts;
    const values = both ? texts.filter((text) => listed.includes(text)) : texts;
    if (values.length === 0) refuse(at, 'no value is allowed');
    return group(values.map(literal));
  }

  #typed(schema: Schema, at: string): string {
    for (const keyword of Object.keys(schema))
      if (!knownKeywords.has(keyword)) refuse(`${at}/${escapePointer(keyword)}`, 'cannot be enforced');
    const wanted = typesOf(schema, at);
    for (const [keyword, type] of Object.entries(unenforced)) {
      const concerned = keyword === 'multipleOf' ? ['number', 'integer'] : ['number'];
      if (schema[keyword] !== undefined && concerned.some((each) => wanted.includes(each)))
        refuse(
          `${at}/${keyword}`,
          `cannot be enforced for ${type}${keyword === 'multipleOf' ? '' : '; use integer'}`,
        );
    }
    return group(wanted.map((type) => this.#ofType(type, schema, at)));
  }

  #ofType(type: string, schema: Schema, at: string): string {
    if (type === 'object') return this.#object(schema, at);
    if (type === 'array') return this.#array(schema, at);
    if (type === 'string') return this.#string(schema, at);
    if (type === 'integer') return this.#integer(schema, at);
    return this.#use(type);
  }

  #object({ properties = {}, required = [], additionalProperties = true }: Schema, at: string): string {
    if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
      refuse(`${at}/properties`, 'an object of schemas is expected');
    if (!Array.isArray(required) || required.some((name) => typeof name !== 'string'))
      refuse(`${at}/required`, 'an array of strings is expected');
    const named = new Map(
      Object.entries(properties as Schema).map(([name, schema]) => [
        name,
        { schema, place: `${at}/properties/${escapePointer(name)}` },
      ]),
    );
    const needed = new Set(required as string[]);
    for (const name of needed) {
      if (named.has(name)) continue;
      if (additionalProperties === false)
        refuse(`${at}/required`, `${JSON.stringify(name)} is not a property`);
      named.set(name, { schema: additionalProperties, place: `${at}/additionalProperties` });
    }
    if (named.size === 0) return this.#map(additionalProperties, at);
    const members = [...named].map(([name, { schema, place }]) => {
      const value = this.#value(schema, place);
      return {
        pair: `${literal(`${JSON.stringify(name)}:`)} ${this.#use('space')} ${value}`,
        needed: needed.has(name),
      };
    });
    return `${literal('{')} ${this.#use('space')} ${this.#members(members)} ${this.#use('space')} ${literal('}')}`;
  }

  /** Members in order, optional ones or not, with commas between those present. Two rules per member. */
  #members(members: readonly { pair: string; needed: boolean }[]): string {
    const comma = `${literal(',')} ${this.#use('space')}`;
    let first = '""';
    let more = '""';
    for (const { pair, needed } of members.toReversed()) {
      const withFirst = `${pair} ${more}`;
      const withMore = `${comma} ${pair} ${more}`;
      const nextFirst = needed ? withFirst : `${withFirst} | ${first}`;
      const nextMore = needed ? withMore : `${withMore} | ${more}`;
      first = this.#rule(nextFirst);
      more = this.#rule(nextMore);
    }
    return first;
  }

  /** An object with any names. */
  #map(values: unknown, at: string): string {
    if (values === false) return `${literal('{')} ${this.#use('space')} ${literal('}')}`;
    if (values === true) return this.#use('object');
    const value = this.#value(values, `${at}/additionalProperties`);
    const pair = this.#rule(`${this.#use('string')} ${literal(':')} ${this.#use('space')} ${value}`);
    const space = this.#use('space');
    return `${literal('{')} ${space} (${pair} (${literal(',')} ${space} ${pair})*)? ${space} ${literal('}')}`;
  }

  #array(schema: Schema, at: string): string {
    const { items = true, prefixItems = [] } = schema;
    if (!Array.isArray(prefixItems)) refuse(`${at}/prefixItems`, 'an array of schemas is expected');
    const [least, most] = bounds(schema, 'minItems', 'maxItems', at);
    const fixed = prefixItems.map((item, index) => this.#value(item, `${at}/prefixItems/${index}`));
    const rest = items === false ? undefined : this.#rule(this.#value(items, `${at}/items`));
    if (rest === undefined && least > fixed.length)
      refuse(`${at}/minItems`, `only ${fixed.length} items are possible`);
    const comma = `${literal(',')} ${this.#use('space')}`;
    const body = this.#items(fixed, rest, least, most, comma);
    return `${literal('[')} ${this.#use('space')} ${body} ${this.#use('space')} ${literal(']')}`;
  }

  #items(
    fixed: readonly string[],
    rest: string | undefined,
    least: number,
    most: number,
    comma: string,
  ): string {
    const head = fixed.slice(0, most);
    const needed = Math.max(0, least - head.length);
    const room = most - head.length;
    let tail = '""';
    if (rest !== undefined && room > 0) {
      const lead = head.length === 0 ? `${rest} ` : '';
      const [from, to] = head.length === 0 ? [Math.max(0, needed - 1), room - 1] : [needed, room];
      const repeated = `(${comma} ${rest})${repetition(from, to)}`;
      tail = `${lead}${repeated}`;
      if (head.length === 0 && needed === 0) tail = `(${tail})?`;
    }
    if (head.length === 0) return tail;
    // Items of the prefix beyond minItems may be missing, with all that follows.
    let expression = tail;
    for (let index = head.length - 1; index >= 0; index--) {
      const item = `${index === 0 ? '' : `${comma} `}${head[index]} ${expression}`;
      expression = this.#rule(index < least ? item : `(${item})?`);
    }
    return expression;
  }

  #string(schema: Schema, at: string): string {
    const { pattern, format } = schema;
    const [least, most] = bounds(schema, 'minLength', 'maxLength', at);
    const bounded = least > 0 || most !== Number.POSITIVE_INFINITY;
    if (Number(pattern !== undefined) + Number(format !== undefined) + Number(bounded) > 1)
      refuse(at, 'pattern, format and lengths cannot be enforced together');
    if (format !== undefined) return `${literal('"')} ${this.#format(format, at)} ${literal('"')}`;
    if (pattern !== undefined) {
      if (typeof pattern !== 'string') refuse(`${at}/pattern`, 'a string is expected');
      const body = patternGrammar(pattern, this.#use('char'), (problem) => refuse(`${at}/pattern`, problem));
      return `${literal('"')} ${body} ${literal('"')}`;
    }
    if (!bounded) return this.#use('string');
    return `${literal('"')} ${this.#use('character')}${repetition(least, most)} ${literal('"')}`;
  }

  #format(format: unknown, at: string): string {
    if (format === 'date-time') return `${formats.date} "T" ${formats.time}`;
    const known = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
    return known ?? refuse(`${at}/format`, `cannot be enforced; known are date, time, date-time and uuid`);
  }

  #integer(schema: Schema, at: string): string {
    const limit = (keyword: string, by: number) => {
      const value = schema[keyword];
      if (value === undefined) return undefined;
      if (typeof value !== 'number' || !Number.isFinite(value))
        refuse(`${at}/${keyword}`, 'a number is expected');
      if (by === 0) return value;
      return by > 0 ? Math.floor(value) + 1 : Math.ceil(value) - 1;
    };
    const lower = [limit('minimum', 0), limit('exclusiveMinimum', 1)].filter((each) => each !== undefined);
    const upper = [limit('maximum', 0), limit('exclusiveMaximum', -1)].filter((each) => each !== undefined);
    if (lower.length + upper.length === 0) return this.#use('integer');
    const least = lower.length === 0 ? undefined : Math.ceil(Math.max(...lower));
    const most = upper.length === 0 ? undefined : Math.floor(Math.min(...upper));
    return (
      integerRange(least, most) ?? refuse(at, 'no integer lies between the bounds, or they exceed 10^15')
    );
  }
}

function repetition(least: number, most: number): string {
  if (most === Number.POSITIVE_INFINITY) return least === 0 ? '*' : `{${least},}`;
  return `{${least},${most}}`;
}

function group(options: readonly string[]): string {
  return options.length === 1 ? (options[0] as string) : `(${options.join(' | ')})`;
}

/** Control characters and halves of surrogate pairs, which JSON escapes in a form that GBNF does not know. */
const unlikeGbnf = /\p{Cs}|(?![\n\r\t])\p{Cc}/u;

/** A GBNF literal. */
export function literal(text: string): string {
  // Ten times as fast as replacing, where most characters need a backslash.
  if (!unlikeGbnf.test(text)) return JSON.stringify(text);
  const escaped = text
    .replace(/[\\"]/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t');
  return `"${escaped}"`;
}
