import type { FieldFacts } from '../../src/doors/page/field-facts.js';

/** The wanted values of a field. */
export interface Wanted {
  /** Any of these values. */
  readonly any?: readonly (string | boolean)[];
  /** The beginning of a text. */
  readonly prefix?: string;
  /** Of a number, or a date as it is written. */
  readonly least?: string;
  readonly greatest?: string;
}

/** By name of the field. */
export type Filters = Readonly<Record<string, Wanted>>;

/** Values of a field that are shown as boxes to tick; with more there is a field for the beginning. */
const mostBoxes = 12;

/** How a field is filtered; undefined: it has nothing to choose from. */
export function controlOf({ type, values, more, least, greatest }: FieldFacts) {
  if (type === 'int' || type === 'float') return least === greatest ? undefined : 'range';
  if (values.length === 0 || (values.length === 1 && !more)) return undefined;
  if (type === 'string' && (more || values.length > mostBoxes)) return 'prefix';
  return 'boxes';
}

/** Returns the filter of a search; undefined if everything is wanted. Values of fields that are absent are ignored. */
export function filterOf(fields: readonly FieldFacts[], filters: Filters): object | undefined {
  const parts = fields.flatMap((field) => partsOf(field, filters[field.name] ?? {}));
  return parts.length === 0 ? undefined : parts.length === 1 ? parts[0] : { and: parts };
}

function partsOf(field: FieldFacts, { any = [], prefix = '', least = '', greatest = '' }: Wanted): object[] {
  const knowledge = { knowledge: field.name };
  const parts: object[] = [];
  if (any.length > 0) parts.push(anyOf(field, any));
  if (prefix !== '') parts.push({ starts_with: [knowledge, prefix] });
  if (least !== '') parts.push({ '>=': [knowledge, bound(field, least)] });
  if (greatest !== '') parts.push({ '<=': [knowledge, bound(field, greatest, 'T23:59:59.999Z')] });
  return parts;
}

function anyOf({ name, type }: FieldFacts, any: readonly (string | boolean)[]): object {
  const knowledge = { knowledge: name };
  const each = any.map((value) =>
    type === 'set<string>' ? { in: [value, knowledge] } : { '==': [knowledge, value] },
  );
  return each.length === 1 ? (each[0] as object) : { or: each };
}

/** Dates are compared as they are written; `time`: the end of a day. */
const bound = ({ format }: FieldFacts, text: string, time = '') =>
  format === undefined ? Number(text) : format === 'date' ? text : text + time;

/** Number of fields that narrow the search. */
export const narrowing = (fields: readonly FieldFacts[], filters: Filters) =>
  fields.filter((field) => partsOf(field, filters[field.name] ?? {}).length > 0).length;

/** The fields that all storages have with the same type. */
export function commonFields(storages: readonly (readonly FieldFacts[])[]): FieldFacts[] {
  const [first = [], ...others] = storages;
  return first.flatMap((field) => {
    const same = others.map((fields) =>
      fields.find(
        ({ name, type, format }) => name === field.name && type === field.type && format === field.format,
      ),
    );
    return same.includes(undefined) ? [] : [merged([field, ...(same as FieldFacts[])])];
  });
}

function merged(fields: readonly FieldFacts[]): FieldFacts {
  const [first] = fields as [FieldFacts];
  if (fields.length === 1) return first;
  const numbers = new Map<string | boolean, number>();
  for (const { values } of fields)
    for (const { value, records } of values) numbers.set(value, (numbers.get(value) ?? 0) + records);
  const ends = (pick: 'least' | 'greatest', sign: number) =>
    fields
      .map((field) => field[pick])
      .filter((value) => value !== undefined)
      .sort((a, b) => (a < b ? -sign : sign))[0];
  const least = ends('least', 1);
  const greatest = ends('greatest', -1);
  return {
    ...first,
    values: [...numbers].sort(([, m], [, n]) => n - m).map(([value, records]) => ({ value, records })),
    more: fields.some(({ more }) => more),
    ...(least !== undefined && { least }),
    ...(greatest !== undefined && { greatest }),
  };
}
