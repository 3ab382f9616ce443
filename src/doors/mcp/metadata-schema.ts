import { z } from 'zod';
import type { FieldFacts } from './fields.js';
import type { ShownStorage, StorageFacts } from './knowledge.js';
import { fieldName, listWithin } from './text.js';

/** Most fields that become properties of the schema. */
const mostProperties = 64;

/** Longest description of the metadata, in characters. */
const longestDescription = 800;

/** Names that are safe as properties in every host. */
const plainName = /^[A-Za-z_][\w.-]{0,63}$/;

/** Whether every object has a property of this name, such as `constructor`, which zod would take for a value. */
const isInherited = (name: string) => name in Object.prototype;

const types: Readonly<Record<string, () => z.ZodType>> = {
  // Integers beyond 2^53 are decimal strings.
  int: () => z.union([z.int(), z.string()], { error: 'an integer is expected' }),
  date: () => z.union([z.int(), z.string()], { error: 'a date such as "2025-01-31" is expected' }),
  'date-time': () =>
    z.union([z.int(), z.string()], { error: 'a time such as "2025-01-31T12:00:00Z" is expected' }),
  float: () => z.number(),
  string: () => z.string(),
  bool: () => z.boolean(),
  'set<string>': () => z.array(z.string()),
};

/** The metadata of a new record: the fields of the storages that may be changed. Their storages check the values. */
export function metadataSchema(storages: readonly (ShownStorage | StorageFacts)[]) {
  const fields = new Map<string, FieldFacts>();
  for (const storage of storages)
    for (const field of 'fields' in storage ? storage.fields : [])
      if (!fields.has(field.name)) fields.set(field.name, field);
  const shape: Record<string, z.ZodType> = {};
  for (const { name, type } of fields.values())
    if (plainName.test(name) && !isInherited(name) && Object.keys(shape).length < mostProperties)
      shape[name] = (types[type]?.() ?? z.unknown()).optional();
  const listed = [...fields.values()].map(({ name, type }) => `${fieldName(name, 60)} (${type})`);
  const some = listed.length === 0 ? '' : ` Fields: ${listWithin(listed, longestDescription)}.`;
  return z.looseObject(shape).optional().describe(`Values of fields, for filters.${some}`);
}
