import { conforms, haveDistinctConstants, inBoth } from './conforms.js';
import { isNamed, isOpen, itemAt, namesOf, propertyAt } from './parts.js';
import {
  commonTypes,
  type JsonType,
  type Located,
  type ObjectShape,
  type Shape,
  type ShapeReader,
  typesOf,
} from './shape.js';
import type { TextLanguages } from './text-languages.js';

/** Deepest properties and items that tell alternatives apart. */
const deepest = 3;

/** Units of work of a pair of shapes, of a name, and of a constant that is compared with a shape. */
const pairUnits = 3;
const nameUnits = 0.25;
const constantUnits = 1;

/**
 * A name that replies for one of two shapes must not have, because the other one needs it and nothing else tells them apart. The
 * schema around both may allow it.
 */
export type ToldByName = (side: 'left' | 'right', name: string) => void;

/** Whether no value that a reply may have for one shape is valid for the other, if replies lack the names that `told` gets. */
export function areDisjoint(
  left: Shape,
  right: Shape,
  shapes: ShapeReader,
  texts: TextLanguages,
  { told, depth = 0 }: { told?: ToldByName; depth?: number } = {},
): boolean {
  texts.languages.work.spend(pairUnits);
  const constants = constantsOf(left, right, texts);
  if (constants !== undefined) {
    return !constants.some(
      (value) => conforms(value, left, shapes, texts) && conforms(value, right, shapes, texts),
    );
  }
  for (const type of commonTypes(typesOf(left), typesOf(right)))
    if (!areDisjointOf(type, left, right, { shapes, texts, depth, told })) return false;
  return true;
}

/**
 * Whether constants tell some alternatives apart: their own, or those of a property that all of them require. The time grows with
 * the number of alternatives, not of pairs.
 */
export function areToldByConstants(
  alternatives: readonly (readonly Shape[])[],
  shapes: ShapeReader,
  texts: TextLanguages,
): boolean {
  const { work } = texts.languages;
  if (haveDistinctConstants(alternatives, work)) return true;
  const all = alternatives.flat();
  if (!all.every(isObject)) return false;
  return neededByAll(all).some((name) => {
    const valuesOf = ({ object }: Shape) => shapes.of(propertyAt(object, name, texts));
    return haveDistinctConstants(
      alternatives.map((options) => options.flatMap(valuesOf)),
      work,
    );
  });
}

/**
 * Returns a name for each of some alternatives that it needs and no other one has; undefined unless all of them have one. Replies for
 * the others must not have it. The time grows with the number of names, not of pairs.
 */
export function namesOfTheirOwn(
  alternatives: readonly (readonly Shape[])[],
  { languages: { work } }: TextLanguages,
): string[] | undefined {
  const owners = new Map<string, number | 'several'>();
  for (const [index, shapes] of alternatives.entries())
    for (const shape of shapes) {
      if (!isObject(shape) || isOpen(shape.object)) return undefined;
      for (const name of namesOf(shape.object)) {
        work.spend(nameUnits);
        owners.set(name, (owners.get(name) ?? index) === index ? index : 'several');
      }
    }
  const own: string[] = [];
  for (const [index, shapes] of alternatives.entries()) {
    const name = neededByAll(shapes).find((each) => owners.get(each) === index);
    if (name === undefined) return undefined;
    own.push(name);
  }
  return own;
}

function isObject(shape: Shape): boolean {
  const types = typesOf(shape);
  return shape.constants === undefined && types.size === 1 && types.has('object');
}

/** The names that all of some shapes need. */
const neededByAll = (shapes: readonly Shape[]) =>
  [...(shapes[0]?.object.required ?? [])].filter((name) =>
    shapes.every(({ object }) => object.required.has(name)),
  );

/** Values among which those of both shapes are, if one of these lists its values. */
function constantsOf(
  { constants: one }: Shape,
  { constants: other }: Shape,
  { languages: { work } }: TextLanguages,
): readonly unknown[] | undefined {
  if (one !== undefined && other !== undefined) return inBoth(one, other, work);
  const constants = one ?? other;
  work.spend(constantUnits * (constants?.length ?? 0));
  return constants;
}

interface Context {
  readonly shapes: ShapeReader;
  readonly texts: TextLanguages;
  readonly depth: number;
  readonly told: ToldByName | undefined;
}

function areDisjointOf(type: JsonType, left: Shape, right: Shape, context: Context): boolean {
  const { texts } = context;
  if (type === 'string') {
    const [one, other] = [left, right].map(({ string, excluded }) =>
      texts.written(string, excluded, left.at),
    );
    return (
      one !== undefined && other !== undefined && texts.isEmpty(texts.languages.both(one, other), right.at)
    );
  }
  if (type === 'number' || type === 'integer') {
    const [one, other] = [left, right].map(({ number, excluded }) =>
      texts.numbers(number, type === 'integer', excluded),
    );
    return (
      one !== undefined && other !== undefined && texts.isEmpty(texts.languages.both(one, other), right.at)
    );
  }
  if (type === 'array') return areDisjointArrays(left, right, context);
  if (type === 'object') return areDisjointObjects(left, right, context);
  return false;
}

/** Whether no value is valid for both lists of schemas. */
function haveNothingInCommon(
  one: readonly Located[],
  other: readonly Located[],
  { shapes, texts, depth }: Context,
) {
  if (depth >= deepest) return false;
  const right = shapes.of(other);
  return shapes
    .of(one)
    .every((a) => right.every((b) => areDisjoint(a, b, shapes, texts, { depth: depth + 1 })));
}

function areDisjointArrays({ array: left }: Shape, { array: right }: Shape, context: Context): boolean {
  if (left.least > right.most || right.least > left.most) return true;
  const both = Math.min(8, Math.max(left.least, right.least));
  return Array.from({ length: both }, (_, index) => index).some((index) =>
    haveNothingInCommon(itemAt(left, index), itemAt(right, index), context),
  );
}

function areDisjointObjects({ object: left }: Shape, { object: right }: Shape, context: Context): boolean {
  const { texts, told } = context;
  const [one, other] = [lacking(left, right, texts), lacking(right, left, texts)];
  if (one !== undefined && other !== undefined) {
    if (one.name !== undefined) told?.('left', one.name);
    if (other.name !== undefined) told?.('right', other.name);
    return true;
  }
  // Of a property that one of them needs, no value is valid for both.
  return [...new Set([...left.required, ...right.required])].some((name) =>
    haveNothingInCommon(propertyAt(left, name, texts), propertyAt(right, name, texts), context),
  );
}

/**
 * Tells why no reply for one shape is valid for another: it never has a property of this name that the other needs, or it always
 * has one that the other forbids. Undefined if nothing does.
 */
function lacking(
  one: ObjectShape,
  other: ObjectShape,
  texts: TextLanguages,
): { name: string | undefined } | undefined {
  for (const name of one.required) if (refuses(other, name, texts)) return { name: undefined };
  for (const name of other.required) if (neverHas(one, name)) return { name };
  return undefined;
}

const neverHas = (object: ObjectShape, name: string) =>
  object.forbidden.has(name) || !(isNamed(object, name) || isOpen(object));

const refuses = (object: ObjectShape, name: string, texts: TextLanguages) =>
  object.forbidden.has(name) || propertyAt(object, name, texts).some(({ schema }) => schema === false);
