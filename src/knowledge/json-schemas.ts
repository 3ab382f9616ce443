import { jsonSchemaText } from '../base/schema/json-schema-text.js';
import { engineBaseSchema, knowledgeBaseSchema, recordsFileSchema } from './config-schema.js';

/** The texts of the files in schemas/, by name, with which editors complete configs and records files. */
export function jsonSchemas(): Record<string, string> {
  return {
    'knowledge-base.schema.json': jsonSchemaText('lorekeep knowledge base', knowledgeBaseSchema),
    'knowledge-base-in-database.schema.json': jsonSchemaText(
      'lorekeep knowledge base in a database',
      engineBaseSchema,
    ),
    'records.schema.json': jsonSchemaText('lorekeep records file', recordsFileSchema),
  };
}
