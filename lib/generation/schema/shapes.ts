import { inBoth } from './conforms.js';
import { areDisjoint, areToldByConstants, namesOfTheirOwn, type ToldByName } from './disjoint.js';
import { absent, mismatch, negationOf, others } from './negation.js';
import { References } from './references.js';
import { escapePointer, isAnnotation, listAt, membersAt, refuse, type Schema } from './schema-checks.js';
import {
  commonTypes,
  type JsonType,
  type Located,
  type Shape,
  type ShapeReader,
  shapeOfAll,
} from './shape.js';
import {
  arrayShape,
  combining,
  enforced,
  mentionedBy,
  numberShape,
  objectShape,
  shapeTypes,
  stringShape,
} from './shape-keywords.js';
import type { TextLanguages } from './text-languages.js';

/** Limits of one schema: schemas read, shapes made, constants, and alternatives that are compared with each other. */
const maxSchemas = 20_000;
const maxShapes = 50_000;
const maxConstants = 20_000;
const maxExclusive = 256;
const deepest = 100;

/** Units of work of a schema that is read, and read again, of a reference, and of a shape; entries of a shape in one unit, which each schema copies. */
const schemaUnits = 2;
const knownUnits = 0.5;
const referenceUnits = 5;
const shapeUnits = 2;
const copiedEntries = 8;

/** Keywords whose meaning no grammar can keep, with the reason. */
const refused: Readonly<Record<string, string>> = {
  $dynamicRef: 'only $ref is followed',
  $recursiveRef: 'only $ref is followed',
  maxContains: 'cannot be enforced',
};

type Step = (shape: Shape) => readonly Shape[];

/** Reads schemas as shapes: references, merges and alternatives are resolved, constraints of properties and items are not yet read. */
export class Shapes implements ShapeReader {
  readonly #references: References;
  readonly #texts: TextLanguages;
  /** Shapes of schemas that stand alone: constants ask for those of their parts again and again. */
  readonly #shapes = new Map<object, readonly Shape[]>();
  /** Alternatives of schemas: the same objects in each piece of work, so that their rules are found again. */
  readonly #options = new Map<Schema, Located[][]>();
  /** Schemas without their "nullable". */
  readonly #nullable = new Map<Schema, Schema>();
  /** How many alternatives of a "oneOf" are compared with those behind them. */
  readonly #compared = new Map<unknown, number>();
  /** Names that replies for the alternatives of a "oneOf" must not have, to be valid for one only. */
  readonly #forbidden = new Map<unknown, readonly Set<string>[]>();
  #schemas = 0;
  #made = 0;
  #constants = 0;

  constructor(root: unknown, texts: TextLanguages) {
    this.#references = new References(root, texts.languages.work);
    this.#texts = texts;
  }

  /** A piece of work reads again what an earlier one did not finish. */
  beginPiece(): void {
    this.#schemas = 0;
    this.#made = 0;
    this.#constants = 0;
  }

  /** The target of a reference. */
  resolve(schema: Schema, at: string): Located {
    this.#texts.languages.work.spend(referenceUnits);
    return this.#references.resolve(schema, at);
  }

  of(list: readonly Located[]): readonly Shape[] {
    const [one] = list;
    if (list.length !== 1 || typeof one?.schema !== 'object' || one.schema === null)
      return this.#merged(list);
    this.#texts.languages.work.spend(knownUnits);
    const known = this.#shapes.get(one.schema) ?? this.#merged(list);
    this.#shapes.set(one.schema, known);
    return known;
  }

  #merged(list: readonly Located[]): readonly Shape[] {
    let shapes: readonly Shape[] = [shapeOfAll(list[0]?.at ?? '')];
    // Several schemas are merged as if one held them.
    const within = list.length > 1 ? [list] : [];
    for (const located of list) shapes = this.#narrowed(shapes, located, within);
    return shapes;
  }

  #narrowed(shapes: readonly Shape[], located: Located, references: readonly unknown[]): readonly Shape[] {
    const { schema, at } = located;
    if (shapes.length === 0 || schema === true) return shapes;
    if (schema === false) return [];
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      refuse(at, 'a schema is expected: an object, true or false');
    if (++this.#schemas > maxSchemas) refuse(at, `more than ${maxSchemas} schemas`);
    this.#texts.languages.work.spend(schemaUnits);
    if (references.length > deepest) refuse(at, `nested deeper than ${deepest}`);
    const given = schema as Schema;
    const others = this.#withoutNull(given);
    if (others !== undefined) {
      const options = [others, onlyNull].map((part) => ({ schema: part, at }));
      return this.#counted(options.flatMap((option) => this.#narrowed(shapes, option, references)));
    }
    let combines = false;
    for (const keyword of Object.keys(given)) {
      this.#checkKeyword(keyword, at);
      combines ||= combining.has(keyword);
    }
    checkUnevaluated(given, at, references.length === 0);
    let all = this.#each(shapes, (shape) => this.#plain(shape, given, at));
    if (!combines && given.$ref === undefined && given.allOf === undefined) return all;
    const inner = [...references, schema];
    const narrow = (part: Located) => {
      all = this.#narrowed(all, part, inner);
    };
    if (given.$ref !== undefined) {
      const target = this.resolve(given, at);
      if (inner.includes(target.schema)) refuse(`${at}/$ref`, 'the reference leads back to itself');
      narrow(target);
    }
    for (const [index, part] of (listAt(given, 'allOf', at) ?? []).entries())
      narrow({ schema: part, at: `${at}/allOf/${index}` });
    if (!combines) return all;
    const lists = this.#options.get(given) ?? this.#alternatives(given, at, references);
    this.#options.set(given, lists);
    for (const options of lists) {
      const before = all;
      all = this.#counted(options.flatMap((option) => this.#narrowed(before, option, inner)));
    }
    return all;
  }

  /**
   * A schema without its "nullable", if it refers to others and has no type to which that adds null: writers for OpenAPI 3.0 mean
   * the reference or null. Undefined for others.
   */
  #withoutNull(schema: Schema): Schema | undefined {
    const { nullable, ...others } = schema;
    if (nullable !== true || schema.type !== undefined || !refersToOthers(schema)) return undefined;
    const known = this.#nullable.get(schema) ?? others;
    this.#nullable.set(schema, known);
    return known;
  }

  #checkKeyword(keyword: string, at: string): void {
    if (isAnnotation(keyword) || enforced.has(keyword)) return;
    refuse(`${at}/${escapePointer(keyword)}`, refused[keyword] ?? 'cannot be enforced');
  }

  /** Lists of schemas of which one must hold. */
  #alternatives(schema: Schema, at: string, references: readonly unknown[]): Located[][] {
    const lists: Located[][] = [];
    const any = listAt(schema, 'anyOf', at);
    if (any !== undefined)
      lists.push(any.map((part, index) => ({ schema: part, at: `${at}/anyOf/${index}` })));
    const one = listAt(schema, 'oneOf', at);
    if (one !== undefined) {
      const options = one.map((part, index) => ({ schema: part, at: `${at}/oneOf/${index}` }));
      this.refuseOverlap(options, schema, `${at}/oneOf`, [...references, schema]);
      lists.push(options.map((option, index) => without(option, this.#forbidden.get(schema)?.[index])));
    }
    if (schema.not !== undefined) lists.push(this.#negation({ schema: schema.not, at: `${at}/not` }));
    if (schema.if !== undefined) lists.push(this.#conditional(schema, at));
    for (const [name, value] of [
      ...membersAt(schema, 'dependentRequired', at),
      ...membersAt(schema, 'dependentSchemas', at),
      ...membersAt(schema, 'dependencies', at),
    ]) {
      const part = Array.isArray(value) ? { required: value } : value;
      lists.push([
        { schema: { allOf: [{ required: [name] }, part] }, at },
        { schema: { type: 'object', [absent]: [name] }, at },
      ]);
    }
    return lists;
  }

  #negation(located: Located): Located[] {
    const { work } = this.#texts.languages;
    return negationOf(located, { resolve: (schema, at) => this.resolve(schema, at), work });
  }

  #conditional(schema: Schema, at: string): Located[] {
    const { if: condition, then = true, else: otherwise = true } = schema;
    const unmet = this.#negation({ schema: condition, at: `${at}/if` });
    return [
      { schema: { allOf: [condition, then] }, at },
      ...unmet.map((part) => ({ schema: { allOf: [part.schema, otherwise] }, at })),
    ];
  }

  /** Refuses a schema if two of its alternatives may allow the same value. @throws PieceOver: the next call continues */
  refuseOverlap(
    options: readonly Located[],
    schema: Schema,
    at: string,
    references: readonly unknown[] = [],
  ): void {
    const done = this.#compared.get(schema) ?? 0;
    if (done === options.length) return;
    if (options.length > maxExclusive) refuse(at, `more than ${maxExclusive} alternatives; use anyOf`);
    const shapes = options.map((option) => this.#narrowed([shapeOfAll(option.at)], option, references));
    const names = namesOfTheirOwn(shapes, this.#texts);
    if (names !== undefined)
      this.#forbidden.set(
        schema,
        names.map((name) => new Set(names.filter((other) => other !== name))),
      );
    if (names !== undefined || areToldByConstants(shapes, this, this.#texts)) {
      this.#compared.set(schema, options.length);
      return;
    }
    const forbidden = this.#forbidden.get(schema) ?? options.map(() => new Set<string>());
    this.#forbidden.set(schema, forbidden);
    for (const [index, one] of shapes.entries()) {
      if (index < done) continue;
      for (const [more, other] of shapes.slice(index + 1).entries()) {
        const told: ToldByName = (side, name) =>
          forbidden[side === 'left' ? index : index + 1 + more]?.add(name);
        const isTold = (left: Shape, right: Shape) => areDisjoint(left, right, this, this.#texts, { told });
        if (!one.every((left) => other.every((right) => isTold(left, right))))
          refuse(
            at,
            'two alternatives may allow the same value; use anyOf, or give each its own type or a const',
          );
      }
      this.#compared.set(schema, index + 1);
      this.#texts.languages.work.mayPause();
    }
  }

  #each(shapes: readonly Shape[], step: Step): readonly Shape[] {
    return this.#counted(shapes.flatMap(step));
  }

  #counted(shapes: readonly Shape[]): readonly Shape[] {
    this.#made += shapes.length;
    this.#texts.languages.work.spend(shapeUnits * shapes.length);
    if (this.#made > maxShapes) refuse('', `its alternatives take more than ${maxShapes} combinations`);
    return shapes;
  }

  /** Adds the constraints of one schema object, its alternatives apart. */
  #plain(shape: Shape, schema: Schema, at: string): readonly Shape[] {
    const types = shapeTypes(schema, at);
    const constants = this.#constantsOf(schema, at);
    const mentioned = mentionedBy(schema);
    // Most schemas are about one type: the constraints of the others stay as they are.
    const isAbout = (type: JsonType, ...keywords: readonly (string | symbol)[]) =>
      mentioned.has(type) || keywords.some((keyword) => Object.hasOwn(schema, keyword));
    const all: Shape = {
      at: shape.at,
      types:
        shape.types === undefined
          ? types
          : types === undefined
            ? shape.types
            : commonTypes(shape.types, types),
      mentioned: shape.mentioned.size === 0 ? mentioned : new Set([...shape.mentioned, ...mentioned]),
      constants:
        shape.constants === undefined
          ? constants
          : constants === undefined
            ? shape.constants
            : inBoth(shape.constants, constants, this.#texts.languages.work),
      excluded: joined(shape.excluded, (schema as Record<symbol, unknown[]>)[others]),
      string: isAbout('string', mismatch) ? stringShape(shape.string, schema, at) : shape.string,
      number: isAbout('number', 'format') ? numberShape(shape.number, schema, at, types) : shape.number,
      array: isAbout('array') ? arrayShape(shape.array, schema, at) : shape.array,
      object: isAbout('object', absent) ? objectShape(shape.object, schema, at) : shape.object,
    };
    this.#texts.languages.work.spend(entriesOf(all) / copiedEntries);
    const impossible = all.types?.size === 0 || all.constants?.length === 0;
    return impossible ? [] : [all];
  }

  #constantsOf(schema: Schema, at: string): readonly unknown[] | undefined {
    const list = listAt(schema, 'enum', at);
    const constants =
      schema.const === undefined
        ? list
        : list === undefined
          ? [schema.const]
          : inBoth([schema.const], list, this.#texts.languages.work);
    this.#constants += constants?.length ?? 0;
    if (this.#constants > maxConstants) refuse(at, `more than ${maxConstants} constants in the schema`);
    return constants;
  }
}

const onlyNull: Schema = { type: 'null' };

const refersToOthers = (schema: Schema) =>
  ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => schema[keyword] !== undefined);

const joined = (list: readonly unknown[], more: readonly unknown[] | undefined) =>
  more === undefined ? list : [...list, ...more];

/** Returns an alternative whose objects have none of some names. */
function without({ schema, at }: Located, names: ReadonlySet<string> | undefined): Located {
  if (names === undefined || names.size === 0 || typeof schema !== 'object' || schema === null)
    return { schema, at };
  const before = (schema as Record<symbol, readonly string[]>)[absent] ?? [];
  return { schema: { ...schema, [absent]: [...before, ...names] }, at };
}

/** Entries of the lists of a shape; of its parts, those of the last one. */
function entriesOf({ excluded, string, number, array, object }: Shape): number {
  const part = object.parts.at(-1);
  const texts = string.patterns.length + string.formats.length + number.multiples.length;
  const items = array.parts.length + array.contains.length + (array.parts.at(-1)?.prefix.length ?? 0);
  const properties = (part?.properties.size ?? 0) + (part?.patterns.length ?? 0);
  const names = object.names.length + object.required.size + object.forbidden.size;
  return excluded.length + texts + items + object.parts.length + properties + names;
}

/** "unevaluated" sees the schemas within its own one, but not those beside it, nor those within "not"; here all are merged. */
function checkUnevaluated(schema: Schema, at: string, isOutermost: boolean): void {
  for (const keyword of ['unevaluatedProperties', 'unevaluatedItems']) {
    if (schema[keyword] === undefined || schema[keyword] === true) continue;
    const place = `${at}/${keyword}`;
    if (!isOutermost) refuse(place, 'cannot be enforced in a schema that is merged with others');
    if (schema.not !== undefined) refuse(place, 'cannot be enforced beside not');
  }
}
