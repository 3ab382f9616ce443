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
  const list = parts.flatMap(({ properties, patterns, additional, silent }) => {
    const own = properties.get(name);
    const matching = patterns.filter(({ pattern, at }) =>
      texts.languages.matches(texts.pattern(pattern, at), name),
    );
    const found = [...(own === undefined ? [] : [own]), ...matching];
    const all = found.length > 0 || additional === undefined ? found : [additional];
    isEvaluated ||= !silent && all.length > 0;
    return all;
  });
  return isEvaluated || unevaluated === undefined ? list : [...list, unevaluated];
}

/** The names that a shape states, in their order: those with schemas first, in the order of these. */
export function namesOf({ parts, required, forbidden }: ObjectShape): string[] {
  const names = new Set(parts.flatMap(({ properties }) => [...properties.keys()]));
  for (const name of required) names.add(name);
  return [...names].filter((name) => !forbidden.has(name));
}

/**
 * Whether a reply may have properties that the shape does not name: if a schema says so, or names none. A schema with
 * properties that is silent about others means its own, as the writers of such schemas do.
 */
export function isOpen({ parts, unevaluated, required }: ObjectShape): boolean {
  const patterned = parts.some(({ patterns }) => patterns.length > 0);
  if (parts.some(({ additional }) => additional?.schema === false)) return patterned;
  if (patterned || parts.some(({ additional }) => additional !== undefined)) return true;
  if (unevaluated !== undefined) return unevaluated.schema !== false;
  return required.size === 0 && parts.every(({ properties }) => properties.size === 0);
}
