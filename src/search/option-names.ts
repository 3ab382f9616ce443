import { type Option, type Options, snakeCase } from '../../lib/basics.js';

/** Returns an option's name in frames and configs. */
export const fieldName = (name: string, { field }: Option): string => field ?? snakeCase(name);

/** Returns fields of a frame or a config as options of the library; other fields are left out. */
export function fromFields<Given extends object>(options: Options, fields: object): Given {
  return renamed(options, fields, (name, option) => [fieldName(name, option), name]) as Given;
}

/** Returns options of the library as fields of a frame or a config; other options are left out. */
export function toFields(options: Options, given: object): object {
  return renamed(options, given, (name, option) => [name, fieldName(name, option)]);
}

function renamed(
  options: Options,
  given: object,
  names: (name: string, option: Option) => [from: string, to: string],
): object {
  const found: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    const [from, to] = names(name, option);
    const value = (given as Record<string, unknown>)[from];
    if (value === undefined) continue;
    found[to] = option.fields === undefined ? value : renamed(option.fields, value as object, names);
  }
  return found;
}

/** Returns the path of an option in frames, such as `lexical.query_syntax`; undefined for an unknown option. */
export function pathOf(options: Options, field: string): string | undefined {
  const [name = '', ...inside] = field.split('.');
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) return undefined;
  const own = fieldName(name, option);
  if (inside.length === 0) return own;
  const rest = inside.join('.');
  return `${own}.${(option.fields && pathOf(option.fields, rest)) ?? rest}`;
}
