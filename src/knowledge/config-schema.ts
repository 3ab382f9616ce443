import { z } from 'zod';

const fieldTypes = ['int', 'float', 'string', 'bool', 'set<string>'] as const;

/** Half of a surrogate pair is no character, and no records file can hold one. */
const wellFormed = (text: string) => !/\p{Surrogate}/u.test(text);
const text = () =>
  z.string().min(1).refine(wellFormed, { error: 'half of a surrogate pair is no character' });
const path = () => text().refine((name) => !name.includes('\0'), { error: 'no file name has a NUL' });

const fieldSchema = z
  .strictObject({
    name: text().describe('The key in records, and what filters call the field.'),
    type: z.enum(fieldTypes),
    default: z
      .union([z.number(), z.string(), z.boolean(), z.array(z.string())])
      .optional()
      .describe('Value of records that omit the field. Exactly one of default and optional is needed.'),
    optional: z.boolean().optional().describe('true: records may omit the field.'),
    filterable: z.boolean().default(true).describe('false: shown with hits, but no filter may name it.'),
  })
  .refine((field) => (field.default !== undefined) !== (field.optional === true), {
    error: 'exactly one of "default" and "optional": true is expected',
  })
  .superRefine(({ type, default: value }, context) => {
    if (value === undefined || isOfType(value, type)) return;
    const message = `${defaults[type]} is expected, because the type is ${type}`;
    context.addIssue({ code: 'custom', path: ['default'], message });
  });

type FieldType = (typeof fieldTypes)[number];

/** What a default is to be, by type: a JSON value is never converted to one of another kind. */
const defaults: Readonly<Record<FieldType, string>> = {
  int: 'an integer within 2^53',
  float: 'a number',
  string: 'a string',
  bool: 'true or false',
  'set<string>': 'an array of strings',
};

function isOfType(value: unknown, type: FieldType): boolean {
  switch (type) {
    case 'int':
      return Number.isSafeInteger(value);
    case 'float':
      return typeof value === 'number';
    case 'string':
      return typeof value === 'string' && wellFormed(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'set<string>':
      return Array.isArray(value) && value.every((element) => wellFormed(element));
  }
}

/** Names are unique; the second of a pair is the wrong one. */
function uniqueNames(fields: readonly { name: string }[], context: z.RefinementCtx): void {
  const first = new Map<string, number>();
  for (const [position, { name }] of fields.entries()) {
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, position);
      continue;
    }
    const message = `${JSON.stringify(name)} is the name of fields[${other}] already`;
    context.addIssue({ code: 'custom', path: [position, 'name'], message });
  }
}

const file = (what: string) =>
  path().optional().describe(`${what} A relative path starts at this file's folder.`);

/** The config file of a knowledge base: the one source of its fields, types, defaults, ranges and descriptions. */
export const knowledgeBaseSchema = z.strictObject({
  $schema: z.string().optional().describe('For editors.'),
  version: z.literal(1).default(1),
  embedding_model: text().describe('Catalog name of the embedding model.'),
  records_file: path().describe("The records: a JSON array. A relative path starts at this file's folder."),
  index_file: file(
    'A built HNSW index, of lorekeep or of hnswlib. Without it the index is built on opening.',
  ),
  bm25_file: file(
    'Where the text index is kept. Default: index_file with the extension .bm25; without either, in memory.',
  ),
  bm25_tokenizer: z
    .enum(['basic', 'enhanced', 'multilingual'])
    .default('basic')
    .describe(
      'How texts become words. enhanced also drops English stopwords and strips suffixes. multilingual is for languages without spaces between words or with marks in them (Chinese, Japanese, Korean, Thai, Hindi, Arabic ...).',
    ),
  fields: z
    .array(fieldSchema)
    .min(1)
    .max(1024)
    .superRefine(uniqueNames)
    .optional()
    .describe("The records' typed metadata."),
  hnsw: z
    .strictObject({
      m: z.int().min(2).max(128).default(16).describe('Links per node.'),
      ef_construction: z
        .int()
        .min(1)
        .max(4096)
        .default(200)
        .describe('Candidates held while a record is linked.'),
      ef_search: z
        .int()
        .min(1)
        .max(100_000)
        .optional()
        .describe(
          'Candidates held during a search that does not say how many: more find more and take longer. Default: 96, or twice top_k where that is more.',
        ),
    })
    .optional()
    .describe('How the index is built and searched.'),
  vector_type: z
    .enum(['f32', 'f16', 'i8'])
    .default('f32')
    .describe('How the index holds vectors: f16 takes a half of the memory, i8 about a quarter.'),
  embeddings_file: file(
    'A cache of embeddings that building and opening read and write: only texts that are not in it are embedded.',
  ),
  long_text: z
    .enum(['error', 'truncate'])
    .default('error')
    .describe(
      "What becomes of a text that the model's context does not hold; truncate: its beginning is embedded, the text and its words stay whole.",
    ),
});

export type KnowledgeBaseConfig = z.output<typeof knowledgeBaseSchema>;

const recordSchema = z.object({
  id: z.string().min(1).describe('Unique within the file; returned with hits.'),
  text: z.string().min(1).describe("The text, short enough for the embedding model's context."),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Values of the fields that the config declares; other keys are ignored.'),
});

/** The records file, for editors and generators: records are read natively, by native/store/records_reader.h. */
export const recordsFileSchema = z.array(recordSchema).min(1);
