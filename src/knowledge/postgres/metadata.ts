/** Metadata as a table holds it: a JSON object with dates as numbers. Hits and records have dates as texts. */
import type { FieldDefinition, Metadata, MetadataValue } from '../../../lib/internal.js';
import { isoDate, LorekeepError } from '../../../lib/internal.js';
import { markWideIntegers } from '../../base/schema/wide-integers.js';
import { isStorable } from './statement.js';

const msPerDay = 86_400_000;

/** Returns the number that a date stands for. Precondition: the addon has accepted the text. */
export function dateNumber(text: string, format: FieldDefinition['format']): number {
  const ms = Date.parse(
    format === 'date' || /^\d{4}-\d\d-\d\d$/.test(text) ? `${text.slice(0, 10)}T00:00Z` : text,
  );
  return format === 'date' ? ms / msPerDay : ms;
}

/** Returns a number as Postgres's numeric reads it: exactly, as filters compare. */
export function numericText(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value);
  return Math.abs(value) >= 2 ** 53 ? String(BigInt(value)) : String(value);
}

/** Returns the JSON of a record's metadata for a table. @throws INVALID_ARGUMENT for a text with U+0000 */
export function metadataJson(
  metadata: Metadata | undefined,
  fields: readonly FieldDefinition[] | undefined,
  id: string,
): string {
  const parts = (fields ?? []).flatMap(({ name, type, format }) => {
    const value = metadata !== undefined && Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    return value === undefined ? [] : [`${JSON.stringify(name)}:${valueJson(value, type, format)}`];
  });
  const texts = Object.values(metadata ?? {})
    .flat()
    .filter((value) => typeof value === 'string');
  if (texts.every(isStorable)) return `{${parts.join(',')}}`;
  throw unstorable(`metadata of the record ${JSON.stringify(id.slice(0, 128))}`);
}

function valueJson(
  value: MetadataValue,
  type: FieldDefinition['type'],
  format: FieldDefinition['format'],
): string {
  if (type === 'int' && typeof value === 'string') return numericText(dateNumber(value, format));
  if (typeof value === 'bigint' || typeof value === 'number') return numericText(value);
  return JSON.stringify(value);
}

/** @throws INVALID_ARGUMENT for a text that no table can hold */
export function requireText(text: string, what: string): void {
  if (!isStorable(text)) throw unstorable(what);
}

const unstorable = (what: string) =>
  LorekeepError.about('INVALID_ARGUMENT', {
    field: what,
    reason: 'has the character U+0000 or half a surrogate pair, which Postgres does not store; remove it',
  });

const mark = '\0';

/** Returns the metadata of a hit from the JSON of a table; undefined if there are no fields. */
export function metadataOf(
  json: string,
  fields: readonly FieldDefinition[] | undefined,
): Metadata | undefined {
  if (fields === undefined) return undefined;
  const found = JSON.parse(markWideIntegers(json, '\\u0000') ?? json) as Record<string, unknown>;
  const entries = fields.flatMap(({ name, type, format }): [string, MetadataValue][] => {
    if (!Object.hasOwn(found, name)) return [];
    return [[name, typedValue(found[name], type, format)]];
  });
  return Object.fromEntries(entries);
}

function typedValue(
  value: unknown,
  type: FieldDefinition['type'],
  format: FieldDefinition['format'],
): MetadataValue {
  if (type === 'float') return Number(String(value).replace(mark, ''));
  if (type !== 'int') return value as MetadataValue;
  if (typeof value === 'string') return BigInt(value.slice(mark.length));
  return format === undefined ? (value as number) : isoDate(value as number, format);
}
