import { z } from 'zod';
import type { Option, Options } from '../../lib/basics.js';
import { boundedRecord, stringArray, stringArrays } from '../base/schema/bounded.js';
import { fieldName } from './option-names.js';

/** Schemas of optional fields with these types. */
type Fields<Types> = {
  [Name in keyof Types]-?: z.ZodOptional<
    z.ZodType<Exclude<Types[Name], undefined>, Exclude<Types[Name], undefined>>
  >;
};

/** Where a schema is: in frames, or in the `search` of a knowledge base's config. */
type Door = 'frame' | 'config';

/** Returns the schemas of the options in frames. `Types`: their types there. */
export function frameFields<Types extends object>(options: Options): Fields<Types> {
  return fieldsOf(options, 'frame') as Fields<Types>;
}

/** Returns the schemas of the options for which a knowledge base may state a default. */
export function configFields<Types extends object>(options: Options): Fields<Types> {
  const stated = Object.entries(options).filter(([, { config }]) => config);
  return fieldsOf(Object.fromEntries(stated), 'config') as Fields<Types>;
}

function fieldsOf(options: Options, door: Door): z.ZodRawShape {
  const shown = Object.entries(options).filter(
    ([, { internal, config }]) => !internal || (door === 'config' && config),
  );
  return Object.fromEntries(
    shown.map(([name, option]) => [
      fieldName(name, option),
      schemaOf(option, door).optional().describe(description(option, door)),
    ]),
  );
}

function schemaOf(option: Option, door: Door): z.ZodType {
  const { kind, choices = [], fields = {}, most = 0, longest = 0 } = option;
  const words = { most, shortest: 1, longest };
  switch (kind) {
    case 'integer':
      return bounded(z.int(), option);
    case 'number':
      return bounded(z.number(), option);
    case 'choice':
      return z.enum(choices as [string, ...string[]]);
    case 'boolean':
      return z.boolean();
    case 'text':
      return z.string();
    case 'object':
      return z.strictObject(fieldsOf(fields, door));
    case 'words':
      return stringArray(words);
    case 'groups':
      return stringArrays(most, words);
    case 'factors':
      return boundedRecord(bounded(z.number(), option), most);
  }
}

function bounded<Schema extends z.ZodNumber>(schema: Schema, { min = 0, max = 0, above }: Option): Schema {
  return (above ? schema.gt(min) : schema.min(min)).max(max);
}

/** The text and the default. */
function description({ text, config, usual, otherwise }: Option, door: Door): string {
  const value = otherwise ?? usual;
  const own = value === undefined ? undefined : String(value);
  if (!config || door === 'config') return own === undefined ? text : `${text} Default: ${own}.`;
  return `${text} Default: the knowledge base's${own === undefined ? '' : `, else ${own}`}.`;
}
