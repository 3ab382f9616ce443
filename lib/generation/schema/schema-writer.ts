import type { Language } from '../languages/language.js';
import { PieceOver, type Work } from '../languages/work.js';
import { conforms } from './conforms.js';
import { FiniteValues } from './finite-values.js';
import { alternatives, GrammarRules, literal, type SharedRule } from './grammar-rules.js';
import { isOpen, itemAt, namesOf, prefixOf, propertyAt } from './parts.js';
import { ScalarWriter } from './scalar-writer.js';
import { isAnnotation, listAt, refuse, type Schema } from './schema-checks.js';
import { repetition, type SequencePart, sequenceGrammar } from './sequence-grammar.js';
import {
  hasType,
  type JsonType,
  jsonTypes,
  type Located,
  type ObjectShape,
  type Shape,
  typesOf,
} from './shape.js';
import { Shapes } from './shapes.js';
import { isLimited, isPatterned, TextLanguages } from './text-languages.js';

/** Limits of one schema: lists of subschemas that become rules, and their nesting. */
const maxSchemas = 5000;
const deepest = 100;

/** Units of work of a value, of its rule, and of a constant; characters of constants in one unit, those of objects and arrays apart. */
const valueUnits = 1;
const ruleUnits = 2;
const constantUnits = 0.5;
const scalarCharacters = 200;
const structureCharacters = 12;

/** Patterns of names in one object: each pair of them divides the names further. */
const maxNamePatterns = 6;

/** Constants of which an array may have each once. */
const maxUnique = 256;

/** The rule of a list of schemas. */
interface Rule {
  readonly name: string;
  body: string | undefined;
  /** Whether it is being written, or a later piece of work will write it; whether something within it refers to it. */
  state: 'open' | 'paused' | 'done';
  used: boolean;
}

/** Writes the grammar of one schema. */
export class SchemaWriter {
  readonly #root: unknown;
  readonly #rules: GrammarRules;
  readonly #work: Work;
  readonly #texts: TextLanguages;
  readonly #shapes: Shapes;
  readonly #scalars: ScalarWriter;
  readonly #finite: FiniteValues;
  /** Numbers of schema objects, which are the same wherever a reference leads to them. */
  readonly #numbers = new Map<unknown, number>();
  /** Rules of lists of schemas. */
  readonly #known = new Map<string, Rule>();
  #schemas = 0;
  #depth = 0;

  constructor(root: unknown, name: string, work: Work) {
    this.#root = root;
    this.#work = work;
    this.#texts = new TextLanguages(work);
    this.#rules = new GrammarRules(name);
    this.#scalars = new ScalarWriter(this.#rules, this.#texts, work);
    this.#shapes = new Shapes(root, this.#texts);
    this.#finite = new FiniteValues(this.#shapes, this.#texts, work, (list) => this.#keyOf(list));
  }

  /** Works for some 10 ms, and returns the grammar once it is complete. @throws TooMuchWork */
  piece(): string | undefined {
    this.#work.beginPiece();
    this.#shapes.beginPiece();
    this.#depth = 0;
    try {
      const body = this.#value([{ schema: this.#root, at: '' }]);
      return this.#rules.text(body ?? refuse('', 'no value is allowed'));
    } catch (error) {
      if (error instanceof PieceOver) return undefined;
      throw error;
    }
  }

  /** Returns an expression for the values that all of the schemas allow; undefined if there are none. */
  #value(list: readonly Located[]): string | undefined {
    this.#work.spend(valueUnits * Math.max(1, list.length));
    const given = list.map((each) => this.#target(each)).filter(({ schema }) => schema !== true);
    if (given.length === 0) return this.#rules.shared('value');
    const at = given[0]?.at ?? '';
    const key = this.#keyOf(given);
    const known = this.#known.get(key);
    if (known?.state === 'open') {
      if (!this.#finite.exist(given)) return undefined;
      known.used = true;
    }
    if (known !== undefined && known.state !== 'paused')
      return known.state === 'open' ? known.name : known.body;
    const rule: Rule = known ?? this.#newRule(key, at);
    if (++this.#depth > deepest) refuse(at, `nested deeper than ${deepest}`);
    rule.state = 'paused';
    this.#work.mayPause();
    rule.state = 'open';
    let body: string | undefined;
    try {
      body = this.#alternatives(given);
    } catch (error) {
      rule.state = 'paused';
      throw error;
    }
    this.#depth--;
    rule.state = 'done';
    if (body === undefined) return rule.used ? refuse(at, 'no value is allowed') : undefined;
    this.#rules.define(rule.name, body);
    rule.body = rule.name;
    return rule.body;
  }

  /** The same for the same schemas, in any order. */
  #keyOf(list: readonly Located[]): string {
    if (list.length === 1) return String(this.#number(list[0]?.schema));
    return [...new Set(list.map(({ schema }) => this.#number(schema)))].sort((a, b) => a - b).join();
  }

  #newRule(key: string, at: string): Rule {
    if (++this.#schemas > maxSchemas) refuse(at, `more than ${maxSchemas} schemas`);
    this.#work.spend(ruleUnits);
    const rule: Rule = { name: this.#rules.reserve(), body: undefined, state: 'open', used: false };
    this.#known.set(key, rule);
    return rule;
  }

  /** What a reference leads to: all references to one schema share its rule. */
  #target(located: Located): Located {
    let target = located;
    for (let steps = 0; isReference(target.schema); steps++) {
      if (steps > deepest) refuse(`${target.at}/$ref`, 'the reference leads back to itself');
      target = this.#shapes.resolve(target.schema, target.at);
    }
    return target;
  }

  #number(schema: unknown): number {
    const known = this.#numbers.get(schema) ?? this.#numbers.size;
    this.#numbers.set(schema, known);
    return known;
  }

  /** Alternatives that stand alone are not merged: they keep their rules, which may refer to themselves. */
  #alternatives(list: readonly Located[]): string | undefined {
    const options = list.length === 1 ? this.#separate(list[0] as Located) : undefined;
    const texts =
      options?.map((option) => this.#value([option])) ??
      this.#shapes.of(list).map((shape) => this.#shape(shape));
    const possible = [...new Set(texts)].filter((text) => text !== undefined);
    return possible.length === 0 ? undefined : alternatives(possible);
  }

  #separate({ schema, at }: Located): Located[] | undefined {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return undefined;
    const keywords = Object.keys(schema).filter((keyword) => !isAnnotation(keyword));
    const [keyword] = keywords;
    if (keywords.length !== 1 || (keyword !== 'anyOf' && keyword !== 'oneOf')) return undefined;
    const options = listAt(schema as Schema, keyword, at)?.map((part, index) => ({
      schema: part,
      at: `${at}/${keyword}/${index}`,
    }));
    if (keyword === 'oneOf' && options !== undefined)
      this.#shapes.refuseOverlap(options, schema as Schema, `${at}/oneOf`);
    // A chain of references back to here has no value between.
    for (const option of options ?? []) this.#shapes.of([option]);
    return options;
  }

  #shape(shape: Shape): string | undefined {
    if (shape.constants !== undefined) return this.#constants(shape.constants, shape);
    const types = typesOf(shape);
    const all = this.#anything(shape, types);
    if (all !== undefined) return all;
    const texts = [...types].map((type) => this.#ofType(type, shape)).filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : alternatives(texts);
  }

  /** The rule of all values, for a schema without constraints. */
  #anything(shape: Shape, types: ReadonlySet<JsonType>): string | undefined {
    if (types.size < jsonTypes.length || isPatterned(shape) || isLimited(shape)) return undefined;
    return isFree(shape) && jsonTypes.every((type) => types.has(type)) ? this.#shared('value') : undefined;
  }

  #constants(constants: readonly unknown[], shape: Shape): string | undefined {
    const texts: string[] = [];
    for (const value of constants) {
      this.#work.spend(constantUnits);
      if (!this.#isConstant(value, shape)) continue;
      const text = literal(JSON.stringify(value));
      this.#work.spend(text.length / (typeof value === 'object' ? structureCharacters : scalarCharacters));
      texts.push(text);
    }
    return texts.length === 0 ? undefined : alternatives(texts);
  }

  #isConstant(value: unknown, shape: Shape): boolean {
    if (!isFree(shape)) return conforms(value, shape, this.#shapes, this.#texts);
    return shape.types === undefined || hasType(shape.types, value);
  }

  #ofType(type: JsonType, shape: Shape): string | undefined {
    switch (type) {
      case 'object':
        return this.#object(shape);
      case 'array':
        return this.#array(shape);
      case 'string':
        return this.#scalars.string(shape);
      case 'number':
      case 'integer':
        return this.#scalars.numeric(shape, type);
      case 'boolean':
        return this.#without(shape, [true, false]);
      case 'null':
        return this.#without(shape, [null]);
    }
  }

  #shared(rule: SharedRule): string {
    return this.#rules.shared(rule);
  }

  #without({ excluded }: Shape, values: readonly unknown[]): string | undefined {
    const left = values.filter((value) => !excluded.includes(value));
    return left.length === 0 ? undefined : alternatives(left.map((value) => literal(JSON.stringify(value))));
  }

  #object(shape: Shape): string | undefined {
    const { object, at } = shape;
    this.#refuseExcluded(
      shape,
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    );
    const parts: SequencePart[] = [];
    for (const name of namesOf(object)) {
      const needed = object.required.has(name);
      const text = this.#property(object, name);
      if (text !== undefined) parts.push({ text, needed });
      else if (needed) return undefined;
    }
    if ([...object.required].some((name) => object.forbidden.has(name))) return undefined;
    const more = isOpen(object) ? this.#others(object, at) : undefined;
    const { least, most } = object;
    if (parts.length === 0 && more === 'any' && least === 0 && most === Number.POSITIVE_INFINITY)
      return this.#shared('object');
    const body = sequenceGrammar(
      {
        parts,
        more: more === 'any' ? this.#pair(this.#shared('string'), this.#shared('value')) : more,
        least,
        most,
        repeating: true,
        at: `${at}/minProperties`,
      },
      this.#rules,
      this.#work,
    );
    return body === undefined ? undefined : this.#enclosed('{', body, '}');
  }

  #enclosed(open: string, body: string, close: string): string {
    const space = this.#shared('space');
    return `${literal(open)} ${space} ${body} ${space} ${literal(close)}`;
  }

  #property(object: ObjectShape, name: string): string | undefined {
    if (object.names.length > 0 && !this.#isName(object, name)) return undefined;
    const list = propertyAt(object, name, this.#texts);
    const value = this.#value(list);
    return value === undefined
      ? undefined
      : `${literal(`${JSON.stringify(name)}:`)} ${this.#shared('space')} ${value}`;
  }

  #isName({ names }: ObjectShape, name: string): boolean {
    return this.#shapes.of(names).some((shape) => conforms(name, shape, this.#shapes, this.#texts));
  }

  #pair(name: string, value: string): string {
    return this.#rules.add(`${name} ${literal(':')} ${this.#shared('space')} ${value}`);
  }

  /** A member whose name the schema does not state; `any`: of any name and value. */
  #others(object: ObjectShape, at: string): string | undefined {
    const { languages } = this.#texts;
    const patterns = object.parts.flatMap((part) => part.patterns);
    const distinct = [...new Map(patterns.map((each) => [each.pattern, each])).values()];
    if (distinct.length > maxNamePatterns)
      refuse(`${at}/patternProperties`, `more than ${maxNamePatterns} patterns cannot be enforced together`);
    const stated = languages.texts([...namesOf(object), ...object.forbidden]);
    const free = languages.both(this.#nameLanguage(object), languages.not(stated));
    const pairs: string[] = [];
    for (let chosen = 0; chosen < 2 ** distinct.length; chosen++) {
      const names = distinct.map(({ pattern, at: place }, index) => {
        const matching = this.#texts.pattern(pattern, place);
        return chosen & (2 ** index) ? matching : languages.not(matching);
      });
      const matching = new Set(
        distinct.filter((_, index) => chosen & (2 ** index)).map(({ pattern }) => pattern),
      );
      const list = othersOf(object, matching);
      if (list === undefined) continue;
      const language = languages.both(free, ...names);
      if (this.#texts.isEmpty(language, at)) continue;
      const value = this.#value(list);
      if (value === undefined) continue;
      if (language === languages.any && value === this.#shared('value')) return 'any';
      const name = language === languages.any ? this.#shared('string') : this.#scalars.quoted(language, at);
      if (name !== undefined) pairs.push(this.#pair(name, value));
    }
    return pairs.length === 0 ? undefined : alternatives(pairs);
  }

  #nameLanguage({ names }: ObjectShape): Language {
    const { languages } = this.#texts;
    if (names.length === 0) return languages.any;
    const options = this.#shapes.of(names).flatMap((shape) => {
      if (!typesOf(shape).has('string')) return [];
      if (shape.constants === undefined) return [this.#texts.written(shape.string, shape.excluded, shape.at)];
      const names = shape.constants.filter((name) => typeof name === 'string');
      return languages.texts(names.filter((name) => conforms(name, shape, this.#shapes, this.#texts)));
    });
    return languages.either(...options);
  }

  #array(shape: Shape): string | undefined {
    const { array, at } = shape;
    this.#refuseExcluded(shape, Array.isArray);
    const fixed: string[] = [];
    let { most } = array;
    for (let index = 0; index < Math.min(prefixOf(array), most); index++) {
      const item = this.#value(itemAt(array, index));
      if (item === undefined) most = index;
      else fixed.push(item);
    }
    const rest = most > fixed.length ? this.#value(itemAt(array, prefixOf(array))) : undefined;
    if (rest === undefined) most = Math.min(most, fixed.length);
    if (most < array.least) return undefined;
    if (array.unique !== undefined && most > 1) return this.#uniqueItems(shape, array.unique);
    if (array.contains.length > 0) return this.#containing(shape, rest);
    const parts = fixed.map((text, index) => ({ text, needed: index < array.least }));
    const body = this.#items(parts, rest, array.least, most, at);
    return body === undefined ? undefined : this.#enclosed('[', body, ']');
  }

  /** Items of a prefix may be missing only with all that follow, unlike properties. */
  #items(
    parts: readonly SequencePart[],
    rest: string | undefined,
    least: number,
    most: number,
    at: string,
  ): string | undefined {
    const comma = `${literal(',')} ${this.#shared('space')}`;
    if (parts.length === 0)
      return sequenceGrammar(
        { parts: [], more: rest, least, most, repeating: false, at },
        this.#rules,
        this.#work,
      );
    const needed = Math.max(0, least - parts.length);
    const room = most - parts.length;
    let expression = rest === undefined || room <= 0 ? '""' : `(${comma} ${rest})${repetition(needed, room)}`;
    for (const [index, { text }] of [...parts.entries()].reverse()) {
      const item = `${index === 0 ? '' : `${comma} `}${text} ${expression}`;
      expression = this.#rules.add(index < least ? item : `(${item})?`);
    }
    return expression;
  }

  /** Arrays with an item that a further schema allows, in any place. */
  #containing({ array, at }: Shape, item: string | undefined): string | undefined {
    const place = `${at}/contains`;
    if (
      array.contains.length > 1 ||
      prefixOf(array) > 0 ||
      array.least > 1 ||
      array.most !== Number.POSITIVE_INFINITY
    )
      refuse(place, 'cannot be enforced beside a prefix, another contains, or bounds');
    const [{ least, schema, at: inner } = { least: 0, schema: true, at }] = array.contains;
    const found = this.#value([...itemAt(array, 0), { schema, at: inner }]);
    if (found === undefined) return undefined;
    const comma = `${literal(',')} ${this.#shared('space')}`;
    const before = item === undefined ? '' : `(${item} ${comma})*`;
    const others = item === undefined ? '' : `(${comma} ${item})*`;
    const again = least > 1 ? `(${others} ${comma} ${found}){${least - 1}}` : '';
    return this.#enclosed('[', `${before} ${found} ${again} ${others}`, ']');
  }

  /** Arrays of constants, each at most once, in the order of the schema. */
  #uniqueItems({ array, at }: Shape, place: string): string | undefined {
    const shapes = prefixOf(array) > 0 || array.contains.length > 0 ? [] : this.#shapes.of(itemAt(array, 0));
    const constants = shapes.flatMap((shape) =>
      (constantsOf(shape) ?? refuse(place, 'cannot be enforced, unless the items are an enum')).filter(
        (value) => conforms(value, shape, this.#shapes, this.#texts),
      ),
    );
    const texts = [...new Set(constants.map((value) => JSON.stringify(value)))];
    if (texts.length === 0 || texts.length > maxUnique)
      refuse(place, 'cannot be enforced, unless the items are an enum');
    const parts = texts.map((text) => ({ text: literal(text), needed: false }));
    const { least, most } = array;
    const body = sequenceGrammar(
      { parts, more: undefined, least, most, repeating: false, at },
      this.#rules,
      this.#work,
    );
    return body === undefined ? undefined : this.#enclosed('[', body, ']');
  }

  #refuseExcluded({ excluded, at }: Shape, concerns: (value: unknown) => boolean): void {
    if (excluded.some(concerns))
      refuse(`${at}/not`, 'constants that are objects or arrays cannot be left out');
  }
}

/** Whether a shape has no keywords about values of certain types, and leaves none out. */
const isFree = ({ mentioned, excluded, object }: Shape) =>
  mentioned.size === 0 && excluded.length === 0 && object.forbidden.size === 0;

function isReference(schema: unknown): schema is Schema {
  if (typeof schema !== 'object' || schema === null || !('$ref' in schema)) return false;
  return Object.keys(schema).every((keyword) => keyword === '$ref' || isAnnotation(keyword));
}

/** The schemas of a property that matches certain patterns and is not named; undefined if a reply may not have it. */
function othersOf(object: ObjectShape, matching: ReadonlySet<string>): Located[] | undefined {
  let stated = false;
  const list = object.parts.flatMap(({ patterns, additional, silent }) => {
    const own = patterns.filter(({ pattern }) => matching.has(pattern));
    if (!silent && (own.length > 0 || additional !== undefined)) stated = true;
    return own.length > 0 || additional === undefined ? own : [additional];
  });
  const { unevaluated } = object;
  if (!stated && unevaluated !== undefined) list.push(unevaluated);
  const isFree = object.parts.every(({ properties, patterns }) => properties.size + patterns.length === 0);
  if (!stated && unevaluated === undefined && !isFree) return undefined;
  return list.some(({ schema }) => schema === false) ? undefined : list;
}

function constantsOf(shape: Shape): readonly unknown[] | undefined {
  if (shape.constants !== undefined) return shape.constants;
  const types = typesOf(shape);
  const finite: Partial<Record<JsonType, readonly unknown[]>> = { boolean: [true, false], null: [null] };
  const all = [...types].map((type) => finite[type]);
  return all.every((each) => each !== undefined) ? all.flat() : undefined;
}
