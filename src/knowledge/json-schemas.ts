import { jsonSchemaText } from '../schema/json-schema-text.js';
import { knowledgeBaseSchema, recordsFileSchema } from './config-schema.js';

/** The texts of the files in schemas/, by name: what editors complete configs and records files with. */
export function jsonSchemas(): Record<string, string> {
  return {
    'knowledge-base.schema.json': jsonSchemaText('lorekeep knowledge base', knowledgeBaseSchema),
    'records.schema.json': jsonSchemaText('lorekeep records file', recordsFileSchema),
  };
}
