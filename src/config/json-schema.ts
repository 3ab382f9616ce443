import type { z } from 'zod';
import { jsonSchemaText } from '../base/schema/json-schema-text.js';
import { fieldFacts } from './field-types.js';
import { configSchema } from './schema.js';

/** Returns the text of schemas/server-config.schema.json. */
export function configJsonSchema(): string {
  return jsonSchemaText('lorekeep server config', configSchema, ({ zodSchema, jsonSchema }) => {
    const facts = fieldFacts.get(zodSchema as unknown as z.ZodType);
    // A default that depends on this machine does not apply to others.
    if (facts?.computedDefault !== undefined) delete jsonSchema.default;
    if (facts?.deprecated) jsonSchema.deprecated = true;
  });
}
