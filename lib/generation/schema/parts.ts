import type { ArrayShape, Located, ObjectShape } from './shape.js';
import type { TextLanguages } from './text-languages.js';

/** The schemas of the item at an index. */
export function itemAt({ parts, unevaluated }: ArrayShape, index: number): Located[] {
  const found = parts.flatMap(({ prefix, items }) => prefix[index] ?? items ?? []);
  return found.length > 0 || unevaluated === undefined ? found : [unevaluated];
}

/** The number of items that have schemas of their own. */
export const prefixOf = ({ parts }: ArrayShape) => Math.max(0, ...parts.map(({ prefix }) => prefix.length));

/** The schemas of the property with a name. */
export function propertyAt(
  { parts, unevaluated }: ObjectShape,
  name: string,
  texts: TextLanguages,
): Located[] {
  let isEvaluated = false;
  const list: Located[] = [];
  for (const { properties, patterns, additional, silent } of parts) {
    const before = list.length;
    const own = properties.get(name);
    if (own !== undefined) list.push(own);
    for (const part of patterns)
      if (texts.languages.matches(texts.pattern(part.pattern, part.at), name)) list.push(part);
    if (list.length === before && additional !== undefined) list.push(additional);
    isEvaluated ||= !silent && list.length > before;
  }
  if (!isEvaluated && unevaluated !== undefined) list.push(unevaluated);
  return list;
}

/** The names that a shape states, in their order: those with schemas first, in the order of these. */
export function namesOf({ parts, required, forbidden }: ObjectShape): string[] {
  const names = new Set(parts.flatMap(({ properties }) => [...properties.keys()]));
  for (const name of required) names.add(name);
  return [...names].filter((name) => !forbidden.has(name));
}

/** Whether `namesOf` has a name. */
export function isNamed({ parts, required, forbidden }: ObjectShape, name: string): boolean {
  return !forbidden.has(name) && (required.has(name) || parts.some(({ properties }) => properties.has(name)));
}

/**
 * Whether a reply may have properties that the shape does not name: if a schema says so, or names none. A schema with
 * properties that is silent about others means its own, as the writers of such schemas do.
 */
export function isOpen({ parts, unevaluated, required }: ObjectShape): boolean {
  let [isPatterned, isOther, isClosed, names] = [false, false, false, required.size];
  for (const { properties, patterns, additional } of parts) {
    names += properties.size;
    isPatterned ||= patterns.length > 0;
    isOther ||= additional !== undefined;
    isClosed ||= additional?.schema === false;
  }
  if (isClosed) return isPatterned;
  if (isPatterned || isOther) return true;
  if (unevaluated !== undefined) return unevaluated.schema !== false;
  return names === 0;
}
