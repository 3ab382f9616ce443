import { jsonSchemaText } from '../schema/json-schema-text.js';
import { catalogSchema, variantSchema } from './schema.js';

/** The text of schemas/model-catalog.schema.json. */
export function catalogJsonSchema(): string {
  return jsonSchemaText('lorekeep model catalog', catalogSchema, ({ zodSchema, jsonSchema }) => {
    if (zodSchema !== (variantSchema as unknown)) return;
    // What Catalog.load() checks beside the schema.
    jsonSchema.oneOf = [{ required: ['file'] }, { required: ['url'] }];
  });
}
