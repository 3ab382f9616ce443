import { z } from 'zod';
import { fieldFacts } from './field-types.js';
import { configSchema } from './schema.js';

/** The text of schemas/server-config.schema.json, for editors that complete and check JSON. */
export function configJsonSchema(): string {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const facts = fieldFacts.get(zodSchema as unknown as z.ZodType);
      // A default that depends on this machine is none for others.
      if (facts?.computedDefault !== undefined) delete jsonSchema.default;
      if (facts?.deprecated) jsonSchema.deprecated = true;
    },
  });
  return `${JSON.stringify({ $schema, title: 'lorekeep server config', ...rest }, null, 2)}\n`;
}
