// TypeScript declarations of zod schemas: an interface per named object, with a docstring on every field.

/** `top_k` becomes `topK`; `_type` stays, as in src/client/names.ts. */
const camelCased = (name) => name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

/** Widest line of a docstring. */
const width = 106;

/** Declares interfaces of objects that it is told the names of; other objects are written where they occur. */
export class Declarations {
  /** Names of objects by their shape, as they are written and as they are read. */
  #names = { input: new Map(), output: new Map() };
  #fields;
  #declared = [];
  /** Interfaces that others extend: name, form, and text of each member by key. */
  #bases = [];
  /** Places of fields without a description. */
  undescribed = [];

  /** `fields`: by name of a field, a type that replaces its schema's. */
  constructor({ fields = {} } = {}) {
    this.#fields = fields;
  }

  /**
   * Declares an interface of an object schema, as it is written ("input") or read ("output"). `fields`: types in place of
   * those of the schema; `required`: optional fields that are required here; `base`: later interfaces that have all its
   * fields extend this one.
   */
  declare(
    name,
    schema,
    description,
    { as = 'output', without = [], required = [], fields = {}, base = false } = {},
  ) {
    const { shape } = objectOf(schema);
    const entries = Object.entries(shape).filter(([key]) => !without.includes(key));
    const members = this.#members(entries, { as, place: name }, '  ', { fields, required });
    const extended = this.#baseOf(members, as);
    const own = [...members].filter(([key, text]) => extended?.members.get(key) !== text);
    const body = own.map(([, text]) => text).join('');
    const head = `${name}${extended === undefined ? '' : ` extends ${extended.name}`}`;
    this.#declared.push(`${docstring(description, '')}export interface ${head} {\n${body}}\n`);
    if (base) this.#bases.push({ name, as, members });
    if (without.length === 0) this.name(schema, name, as);
  }

  /** Returns the largest base whose fields are all among the members. */
  #baseOf(members, as) {
    const all = this.#bases.filter(
      (base) => base.as === as && [...base.members.keys()].every((key) => members.has(key)),
    );
    return all.sort((a, b) => b.members.size - a.members.size)[0];
  }

  /** Declares an alias. */
  alias(name, type, description) {
    this.#declared.push(`${docstring(description, '')}export type ${name} = ${type};\n`);
  }

  /** Declares what no schema has. */
  raw(text) {
    this.#declared.push(text);
  }

  /** Gives a name to a schema that is declared otherwise. */
  name(schema, name, as = 'output') {
    this.#names[as].set(objectOf(schema).shape, name);
  }

  get text() {
    return this.#declared.join('\n');
  }

  /** Returns the text of each member by key. */
  #members(entries, context, indent, { fields = {}, required = [] } = {}) {
    return new Map(
      entries.map(([key, schema]) => {
        const name = camelCased(key);
        const place = `${context.place}.${name}`;
        const optional = isOptional(schema, context.as) && !required.includes(key);
        const type =
          fields[key] ?? this.#fields[key] ?? this.#type(schema, { ...context, place }, `${indent}  `);
        const text = description(schema);
        if (text === undefined && !isConstant(schema)) this.undescribed.push(place);
        const shown = optional ? `${type} | undefined` : type;
        const member = `${docstring(text, indent)}${indent}${propertyName(name)}${optional ? '?' : ''}: ${shown};\n`;
        return [key, member];
      }),
    );
  }

  #type(schema, context, indent) {
    const { def } = schema._zod;
    switch (def.type) {
      case 'string':
      case 'boolean':
      case 'number':
        return def.type;
      case 'any':
        return 'unknown';
      case 'unknown':
      case 'custom':
        return customType(schema);
      case 'literal':
        return def.values.map(literal).join(' | ');
      case 'enum':
        return Object.values(def.entries).map(literal).join(' | ');
      case 'nullable':
        return `${this.#type(def.innerType, context, indent)} | null`;
      case 'optional':
      case 'default':
      case 'prefault':
      case 'nonoptional':
      case 'readonly':
      case 'catch':
        return this.#type(def.innerType, context, indent);
      case 'pipe':
        return this.#type(def.out, context, indent);
      case 'array':
        if (schema.meta?.()?.items !== undefined) return customType(schema);
        return listOf(this.#type(def.element, context, indent), context.as);
      case 'tuple':
        return `${context.as === 'input' ? 'readonly ' : ''}[${def.items.map((item) => this.#type(item, context, indent)).join(', ')}]`;
      case 'record':
        return `Record<string, ${this.#type(def.valueType, context, indent)}>`;
      case 'union':
        return def.options.map((option) => this.#type(option, context, indent)).join(' | ');
      case 'object':
        return this.#object(def.shape, context, indent);
      default:
        throw new Error(`${context.place}: no TypeScript for a zod schema of type ${def.type}`);
    }
  }

  #object(shape, context, indent) {
    const name = this.#names[context.as].get(shape);
    if (name !== undefined) return name;
    const outer = indent.slice(2);
    const members = this.#members(Object.entries(shape), context, indent);
    return `{\n${[...members.values()].join('')}${outer}}`;
  }
}

const listOf = (item, as) => {
  const whole = /[^\w.[\]]/.test(item) ? `(${item})` : item;
  return as === 'input' ? `readonly ${whole}[]` : `${whole}[]`;
};

const propertyName = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const literal = (value) => (typeof value === 'string' ? `'${value}'` : String(value));

/** Schemas of any object, of arrays of strings, and of arrays of such arrays: src/base/schema/bounded.ts. */
function customType(schema) {
  const { type, items } = schema.meta?.() ?? {};
  if (type === 'object') return 'Record<string, unknown>';
  if (type === 'array' && items?.type === 'string') return 'readonly string[]';
  if (type === 'array' && items?.items?.type === 'string') return 'readonly (readonly string[])[]';
  return 'unknown';
}

export function objectOf(schema) {
  const { def } = schema._zod;
  if (def.type === 'object') return def;
  if (def.type === 'pipe') return objectOf(def.out);
  return objectOf(def.innerType);
}

// A field with a default may be absent from what is written, and is always in what is read.
const isOptional = (schema, as) =>
  as === 'input' ? schema._zod.optin !== undefined : schema._zod.optout === 'optional';

const isConstant = (schema) => schema._zod.def.type === 'literal' && schema._zod.def.values.length === 1;

/** The description with range and default, where it does not name them. */
function description(schema) {
  const { text, range, fallback } = facts(schema);
  if (text === undefined) return undefined;
  const sentences = [text];
  if (range !== undefined) sentences.push(`${range}.`);
  if (fallback !== undefined && !/\bdefault\b/i.test(text)) sentences.push(`Default: \`${fallback}\`.`);
  return sentences.join(' ');
}

function facts(schema, found = {}) {
  const { def } = schema._zod;
  found.text ??= schema.description;
  if (def.type === 'default') found.fallback ??= JSON.stringify(def.defaultValue);
  if (def.type === 'number') found.range ??= rangeOf(def.checks ?? []);
  const inner = def.innerType ?? (def.type === 'pipe' ? def.out : undefined);
  return inner === undefined ? found : facts(inner, found);
}

function rangeOf(checks) {
  const bound = (name) => checks.map(({ _zod }) => _zod.def).findLast(({ check }) => check === name);
  const least = bound('greater_than');
  const most = bound('less_than');
  if (least === undefined) return undefined;
  const above = least.inclusive ? `${least.value}` : `Above ${least.value}`;
  if (most !== undefined) return `${above} to ${most.value}`;
  return least.inclusive ? `From ${least.value}` : above;
}

/** A docstring with a line break after it; nothing for no text. */
function docstring(text, indent) {
  if (text === undefined) return '';
  const whole = `${indent}/** ${text} */`;
  if (whole.length <= width) return `${whole}\n`;
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== '' && indent.length + 3 + line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}
