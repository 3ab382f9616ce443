import { z } from 'zod';
import { reply, requestIdSchema } from './fields.js';

/** A model of the catalog. */
const listedModelSchema = z.object({
  name: z.string().describe('Catalog name.'),
  type: z
    .enum(['embedding', 'llm', 'vad', 'stt', 'reranker'])
    .describe('`vad` finds speech, `stt` recognises it.'),
  license: z.string().optional().describe('SPDX identifier of the licence of the weights.'),
  variants: z
    .array(
      z.object({
        name: z.string().optional().describe('For example the quantisation.'),
        state: z
          .enum(['present', 'absent'])
          .describe('Whether its file is there, or another server computes it.'),
        downloadable: z.boolean().describe('Whether the catalog has an address.'),
        chosen: z.boolean().describe('Whether the server takes this variant.'),
        size_bytes: z.int().optional().describe('Length of the file, or what the catalog states.'),
        device: z
          .string()
          .optional()
          .describe(
            'Device that computes it if there is room: `CPU`, the name of a GPU, or `remote` for another server. Absent if it needs a GPU that is absent or not in use.',
          ),
        contradictions: z
          .array(z.string())
          .optional()
          .describe(
            'One sentence per fact that the catalog and the file state differently, and on a download that has become shorter or longer.',
          ),
        unusable: z
          .string()
          .optional()
          .describe(
            'Why the file cannot be used: its damage, or why a load refuses it. Checksums are not compared.',
          ),
      }),
    )
    .describe('Files of the model.'),
  chosen_because: z.string().describe('Why the chosen variant was chosen.'),
  loaded: z.boolean().describe('Whether it is in memory.'),
  memory_bytes: z.int().optional().describe('Bytes that it takes.'),
  device: z.string().optional().describe('Device that computes it; absent unless it is loaded.'),
  context_size: z.int().optional().describe('In use, in tokens.'),
});

/** Frames about the models of the catalog. */
export const modelSchemas = {
  ListModelsResponse: reply('ListModelsResponse', {
    models: z.array(listedModelSchema).describe('All models of the catalog, in its order.'),
    memory: z
      .array(
        z.object({
          device: z.string().describe('`CPU`, or the name of a GPU.'),
          used: z.int().describe('Bytes that models take.'),
          limit: z.int().optional().describe('Bytes that they may take; absent: not limited here.'),
        }),
      )
      .describe('The budget that all models share.'),
    pulls_allowed: z.boolean().describe('Whether PullModelRequest is allowed.'),
  }),
  PullModelResponse: reply('PullModelResponse', {
    model: z.string().describe('Catalog name.'),
    variant: z.string().optional().describe('Name of the variant.'),
    size_bytes: z.int().optional().describe('Length that the catalog states.'),
    downloaded: z.boolean().describe('false: the file was there already.'),
  }),
  PullProgress: z.object({
    type: z.literal('PullProgress'),
    request_id: requestIdSchema.describe('The `id` of the PullModelRequest.'),
    model: z.string().describe('Catalog name.'),
    file: z.string().describe('Name of the file; a split model has several.'),
    done_bytes: z.int().describe('Bytes of the file that are there.'),
    total_bytes: z.int().describe('Length of the file.'),
  }),
} as const;
