import { z } from 'zod';
import { didYouMean, nearestName } from '../base/schema/nearest.js';
import { wellFormed } from '../base/schema/well-formed.js';
import { recordFieldsSchema } from '../search/record-fields.js';
import { tablePattern } from './postgres/tables.js';
import { earlierEf, earlierFields, searchConfigSchema, statedTwice } from './search-config.js';

const text = () =>
  z.string().min(1).refine(wellFormed, { error: 'half of a surrogate pair is no character' });
const path = () => text().refine((name) => !name.includes('\0'), { error: 'no file name has a NUL' });

interface Boosting {
  fields?: readonly { name: string; type: string }[] | undefined;
  lexical?: { boosts?: object | undefined } | undefined;
  search?: { lexical?: { boosts?: object | undefined } | undefined } | undefined;
}

/** Boosted fields are string fields: every search with a lexical leg would refuse others. */
function boostedStrings({ fields = [], lexical, search }: Boosting, context: z.RefinementCtx): void {
  const place = lexical === undefined ? ['search', 'lexical'] : ['lexical'];
  for (const name of Object.keys((lexical ?? search?.lexical)?.boosts ?? {})) {
    const type = fields.find((field) => field.name === name)?.type;
    if (type === 'string') continue;
    const names = fields.filter((field) => field.type === 'string').map((field) => field.name);
    const message =
      type === undefined
        ? `${JSON.stringify(name)} is not a field of the records${didYouMean(nearestName(name, names))}`
        : `a field of type string is expected, not ${type}`;
    context.addIssue({ code: 'custom', path: [...place, 'boosts', name], message });
  }
}

const file = (what: string) =>
  path().optional().describe(`${what} A relative path starts at this file's folder.`);

const hnswSchema = z.strictObject({
  m: z.int().min(2).max(128).default(16).describe('Links per node.'),
  ef_construction: z
    .int()
    .min(1)
    .max(4096)
    .default(200)
    .describe('Candidates held while a record is linked.'),
  ef_search: earlierEf,
});

/** Build parameters of an index whose config does not set them. */
export const hnswDefaults = hnswSchema.parse({});

/** Names of connections: those of server-config.json. */
const connectionName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const engineSchema = z.strictObject({
  type: z.literal('postgres'),
  connection: z
    .string()
    .regex(connectionName, 'the name of a connection is expected')
    .describe("Name of a connection that the server's config declares."),
  table: z
    .string()
    .regex(
      tablePattern,
      'a name such as "notes" or "schema.notes" of small letters, digits and _ is expected',
    )
    .describe('Table of the records, in the schema public unless it names another.'),
  index: z
    .enum(['none', 'hnsw'])
    .default('none')
    .describe('How vectors are searched: all of them, or by an HNSW index that `lorekeep push` builds.'),
});

/** The config file of a knowledge base: the one source of its fields, types, defaults, ranges and descriptions. */
export const knowledgeBaseSchema = z
  .strictObject({
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
        'How texts become words. enhanced also drops English stopwords and strips suffixes. multilingual is for every language and for code: it also finds C++, .NET, versions, paths and identifiers as people write them.',
      ),
    fields: recordFieldsSchema.optional().describe("The records' typed metadata."),
    search: searchConfigSchema
      .optional()
      .describe('What searches use where they say nothing, at every door: docs/concepts/search.md.'),
    ...earlierFields,
    hnsw: hnswSchema.optional().describe('How the index is built.'),
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
  })
  .superRefine((config, context) => {
    for (const twice of statedTwice(config)) context.addIssue({ code: 'custom', ...twice });
  })
  .superRefine(boostedStrings);

export type KnowledgeBaseConfig = z.output<typeof knowledgeBaseSchema>;

const { shape } = knowledgeBaseSchema;
const noFile = () =>
  z.never({ error: 'it has no effect on records in a database; remove it, or remove "engine"' }).optional();

/** The config file of a knowledge base whose records are in a database. */
export const engineBaseSchema = z
  .strictObject({
    $schema: shape.$schema,
    version: shape.version,
    embedding_model: shape.embedding_model,
    engine: engineSchema.describe('The database that keeps and searches the records.'),
    bm25_tokenizer: shape.bm25_tokenizer,
    fields: shape.fields,
    search: shape.search,
    hnsw: hnswSchema.omit({ ef_search: true }).optional().describe('How `lorekeep push` builds the index.'),
    ...Object.fromEntries(
      (
        ['records_file', 'index_file', 'bm25_file', 'embeddings_file', 'vector_type', 'long_text'] as const
      ).map((name) => [name, noFile()]),
    ),
  })
  .superRefine(boostedStrings)
  .superRefine(({ engine, hnsw }, context) => {
    if (hnsw === undefined || engine.index === 'hnsw') return;
    const message = 'it has no effect without "index": "hnsw" in "engine"';
    context.addIssue({ code: 'custom', path: ['hnsw'], message });
  });

export type EngineBaseConfig = Omit<
  z.output<typeof engineBaseSchema>,
  'records_file' | 'index_file' | 'bm25_file' | 'embeddings_file' | 'vector_type' | 'long_text'
>;

/** Text that is not blank, as records_reader.h has it. */
const shown = () => z.string().regex(/[^ \t\r\n\f\v]/);

const recordSchema = z.object({
  id: shown().describe('Unique within the file; returned with hits.'),
  text: shown().describe("The text, short enough for the embedding model's context."),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Values of the fields that the config declares; other keys are ignored.'),
});

/** The records file, for editors and generators: records are read natively, by native/store/records_reader.h. */
export const recordsFileSchema = z.array(recordSchema).min(1);
