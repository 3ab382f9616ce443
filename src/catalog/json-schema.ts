import { z } from 'zod';
import { catalogSchema, variantSchema } from './schema.js';

/** The text of schemas/model-catalog.schema.json, for editors that complete and check JSON. */
export function catalogJsonSchema(): string {
  const { $schema, ...rest } = z.toJSONSchema(catalogSchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema !== (variantSchema as unknown)) return;
      // What Catalog.load() checks beside the schema.
      jsonSchema.oneOf = [{ required: ['file'] }, { required: ['url'] }];
    },
  });
  return `${JSON.stringify({ $schema, title: 'lorekeep model catalog', ...rest }, null, 2)}\n`;
}
