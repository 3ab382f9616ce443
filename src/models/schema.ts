import { z } from 'zod';
import { jsonSchemaText } from '../base/schema/json-schema-text.js';
import { voiceSettingsSchema } from '../base/schema/voice-settings.js';
import { modelFusionSchema } from '../search/model-fusion.js';
import { remoteSchema } from './remote/settings.js';

const checksum = z.string().regex(/^[0-9a-f]{64}$/i, '64 hexadecimal digits are expected');

const path = () =>
  z
    .string()
    .min(1)
    .refine((name) => !name.includes('\0'), 'no file name has a NUL');

const hasNoControls = (text: string) => !/\p{Cc}/u.test(text);

/** One file of a model, or another server that computes it. Exactly one of `file`, `url`, `hf` and `remote` is set. */
const variantSchema = z.strictObject({
  name: z.string().min(1).optional().describe('For example the quantisation, Q8_0.'),
  file: path().optional().describe("The model file; a relative path starts at the catalog's folder."),
  url: z
    .string()
    .min(1)
    .refine(hasNoControls, 'an address has no control characters')
    .optional()
    .describe('Where `lorekeep models pull` finds it: an http or https address.'),
  hf: z
    .string()
    .regex(/^(hf:)?[\w.-]+\/[\w.-]+\/[^#?\\]+(#[\w./-]+)?$/, 'user/repository/file.gguf#revision is expected')
    .refine(hasNoControls, 'it has control characters')
    .optional()
    .describe('The same on Hugging Face: `user/repository/file.gguf#revision`.'),
  remote: remoteSchema
    .optional()
    .describe(
      'Another server that computes the model, in place of a file. Only a catalog that the operator names may have it.',
    ),
  sha256: checksum
    .optional()
    .describe(
      'SHA-256 of the file, hexadecimal; of a split model, of its first part. A download or a file that contradicts it is refused.',
    ),
  parts_sha256: z
    .array(checksum)
    .min(2)
    .max(999)
    .optional()
    .describe('Instead of `sha256`: the SHA-256 of every part of a split model, in order.'),
  reference: z
    .strictObject({
      file: path().describe(
        "JSON with texts, their tokens and vectors; a relative path starts at the catalog's folder.",
      ),
      least_cosine: z.number().min(0).max(1).describe('The cosine that every vector must reach.'),
    })
    .optional()
    .describe('Reference for `lorekeep check`.'),
  size_bytes: z
    .int()
    .min(1)
    .optional()
    .describe('Length of the file in bytes, of all parts together; compared likewise.'),
  context_size: z
    .int()
    .min(1)
    .max(1_048_576)
    .optional()
    .describe(
      "Embedding: longest text in tokens; default: `engines.llm_engine.embedding.default_n_ctx` of the server's config. Language model: context in tokens; default: `engines.llm_engine.inference.default_n_ctx`.",
    ),
  note: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('A note for people; shown by `lorekeep models show`.'),
  placement: z
    .enum(['ram', 'vram', 'auto'])
    .optional()
    .describe(
      '`ram`: on the CPU; `vram`: on the GPU or not at all; `auto` (default): on the GPU if there is one with room, but embedding models under 100 million parameters on the CPU.',
    ),
});

/** One model. Fields for embedding models are ignored on others. */
const catalogEntrySchema = z.strictObject({
  name: z.string().min(1).max(128).describe('Name for knowledge bases and requests; unique.'),
  model_type: z
    .enum(['embedding', 'llm', 'vad', 'stt', 'reranker'])
    .describe(
      '`embedding`, `llm` (language models), `reranker`, `vad` (voice activity: Silero VAD) or `stt` (speech to text: Whisper).',
    ),
  variants: z
    .array(variantSchema)
    .min(1)
    .describe('The first whose file is present and fits into memory is used.'),
  query_prefix: z.string().default('').describe('Text before every query, as in training (e5, bge, nomic).'),
  document_prefix: z.string().default('').describe('Text before every record.'),
  dimension: z
    .int()
    .min(1)
    .optional()
    .describe('Numbers per embedding; a file that gives another number is not this model, and is refused.'),
  license: z.string().min(1).optional().describe('SPDX identifier of the licence of the weights.'),
  pooling: z.enum(['mean', 'cls', 'last']).optional().describe('Default: as in the model file.'),
  multilingual: z
    .boolean()
    .optional()
    .describe(
      'Whether it knows many languages: `lorekeep index` chooses such a model for texts that are not English.',
    ),
  vad: voiceSettingsSchema
    .optional()
    .describe('When speech begins and ends, for a model of the type `vad`; a request may say otherwise.'),
  fusion: modelFusionSchema
    .optional()
    .describe('Fusion of hybrid search that suits the model; a request may say otherwise.'),
});

export const catalogSchema = z.strictObject({
  $schema: z.string().optional().describe('For editors; no effect.'),
  version: z.literal(1, 'the number 1 is expected'),
  models: z.array(catalogEntrySchema).min(1, 'a model is expected: the server does not start without one'),
});

export type CatalogEntry = z.output<typeof catalogEntrySchema>;
export type ModelVariant = z.output<typeof variantSchema>;
/** Where a model goes. */
export type Placement = NonNullable<ModelVariant['placement']>;

/** Returns the text of schemas/model-catalog.schema.json. */
export function catalogJsonSchema(): string {
  return jsonSchemaText('lorekeep model catalog', catalogSchema, ({ zodSchema, jsonSchema }) => {
    if (zodSchema !== (variantSchema as unknown)) return;
    // Catalog.load() checks this in code.
    jsonSchema.oneOf = [
      { required: ['file'] },
      { required: ['url'] },
      { required: ['hf'] },
      { required: ['remote'] },
    ];
  });
}

/** Whether a variant has files to download. */
export const isDownload = ({ url, hf }: ModelVariant): boolean => (url ?? hf) !== undefined;
