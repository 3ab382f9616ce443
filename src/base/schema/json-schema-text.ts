import { z } from 'zod';

/** The text of a file in schemas/, for editors. `override` is zod's option. */
export function jsonSchemaText(
  title: string,
  schema: z.ZodType,
  override?: z.core.ToJSONSchemaParams['override'],
): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', ...(override && { override }) });
  return `${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`;
}
