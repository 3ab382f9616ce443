import { z } from 'zod';
import { knowledgeBaseSchema, recordsFileSchema } from './config-schema.js';

/** The texts of the files in schemas/, by name: what editors complete configs and records files with. */
export function jsonSchemas(): Record<string, string> {
  return {
    'knowledge-base.schema.json': schemaText('lorekeep knowledge base', knowledgeBaseSchema),
    'records.schema.json': schemaText('lorekeep records file', recordsFileSchema),
  };
}

function schemaText(title: string, schema: z.ZodType): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return `${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`;
}
