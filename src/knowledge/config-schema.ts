import { z } from 'zod';
import { didYouMean, nearestName } from '../base/schema/nearest.js';
import { wellFormed } from '../base/schema/well-formed.js';
import { recordFieldsSchema } from '../search/record-fields.js';
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
