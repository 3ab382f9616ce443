import { compareDecimals, decimalOf } from '../decimal.js';
import type { Work } from '../languages/work.js';
import type { Bound } from '../number-range.js';
import { itemAt, propertyAt } from './parts.js';
import { canonical, hasType, type Located, type Shape, type ShapeReader, typesOf } from './shape.js';
import type { TextLanguages } from './text-languages.js';

/** Whether a constant is valid for all of the schemas. */
export function isValid(
  value: unknown,
  list: readonly Located[],
  shapes: ShapeReader,
  texts: TextLanguages,
): boolean {
  return shapes.of(list).some((shape) => conforms(value, shape, shapes, texts));
}

/** Units of work of a constant; its characters in one unit, if it is a string, and else. */
const valueUnits = 1;
const stringCharacters = 64;
const textCharacters = 8;

/** Lists of constants by their canonical texts: they may be long and asked for often. */
const known = new WeakMap<readonly unknown[], ReadonlyMap<string, unknown>>();

function byText(constants: readonly unknown[], work: Work): ReadonlyMap<string, unknown> {
  const texts = known.get(constants) ?? new Map(constants.map((value) => [textOf(value, work), value]));
  known.set(constants, texts);
  return texts;
}

function textOf(value: unknown, work: Work): string {
  const text = canonical(value);
  const inUnit = typeof value === 'string' ? stringCharacters : textCharacters;
  work.spend(Math.floor(text.length / inUnit));
  return text;
}

/** The constants of the first list that the second has, too. */
export function inBoth(one: readonly unknown[], other: readonly unknown[], work: Work): unknown[] {
  work.spend(one.length);
  const texts = byText(other, work);
  return [...byText(one, work)].filter(([text]) => texts.has(text)).map(([, value]) => value);
}

/** Whether all shapes of some alternatives are lists of constants, and no two alternatives share a constant. */
export function haveDistinctConstants(alternatives: readonly (readonly Shape[])[], work: Work): boolean {
  const seen = new Map<string, number>();
  for (const [index, shapes] of alternatives.entries())
    for (const { constants } of shapes) {
      if (constants === undefined) return false;
      work.spend(valueUnits * constants.length);
      for (const text of byText(constants, work).keys()) {
        if ((seen.get(text) ?? index) !== index) return false;
        seen.set(text, index);
      }
    }
  return true;
}

/** Whether a constant is a value of a shape. */
export function conforms(value: unknown, shape: Shape, shapes: ShapeReader, texts: TextLanguages): boolean {
  const { constants, excluded } = shape;
  const { work } = texts.languages;
  work.spend(valueUnits);
  // Among constants that state the types, the value itself does.
  if ((shape.types !== undefined || constants === undefined) && !hasType(typesOf(shape), value)) return false;
  const text = textOf(value, work);
  if (constants !== undefined && !byText(constants, work).has(text)) return false;
  if (byText(excluded, work).has(text)) return false;
  if (typeof value === 'string') return texts.languages.matches(texts.strings(shape.string), value);
  if (typeof value === 'number') return isWithin(value, shape);
  if (Array.isArray(value)) return isArray(value, shape, shapes, texts);
  if (typeof value === 'object' && value !== null)
    return isObject(value as Record<string, unknown>, shape, shapes, texts);
  return true;
}

function isWithin(value: number, { number: { least, most, multiples } }: Shape): boolean {
  const decimal = decimalOf(value);
  const meets = (bound: Bound | undefined, sign: number) => {
    if (bound === undefined) return true;
    const order = compareDecimals(decimal, bound.value) * sign;
    return bound.strict ? order > 0 : order >= 0;
  };
  const divides = (step: number) => {
    const unit = decimalOf(step);
    const places = Math.max(unit.fraction.length, decimal.fraction.length);
    const scaled = ({ whole, fraction }: typeof unit) => BigInt(whole + fraction.padEnd(places, '0'));
    return scaled(decimal) % scaled(unit) === 0n;
  };
  return meets(least, 1) && meets(most, -1) && multiples.every(divides);
}

function isArray(
  value: readonly unknown[],
  { array }: Shape,
  shapes: ShapeReader,
  texts: TextLanguages,
): boolean {
  if (value.length < array.least || value.length > array.most) return false;
  if (array.unique !== undefined && new Set(value.map(canonical)).size < value.length) return false;
  const contained = array.contains.every(
    (part) => value.filter((item) => isValid(item, [part], shapes, texts)).length >= part.least,
  );
  return contained && value.every((item, index) => isValid(item, itemAt(array, index), shapes, texts));
}

function isObject(
  value: Readonly<Record<string, unknown>>,
  { object }: Shape,
  shapes: ShapeReader,
  texts: TextLanguages,
): boolean {
  const names = Object.keys(value);
  if (names.length < object.least || names.length > object.most) return false;
  if ([...object.required].some((name) => !Object.hasOwn(value, name))) return false;
  if (names.some((name) => object.forbidden.has(name))) return false;
  return names.every(
    (name) =>
      isValid(value[name], propertyAt(object, name, texts), shapes, texts) &&
      (object.names.length === 0 || isValid(name, object.names, shapes, texts)),
  );
}
