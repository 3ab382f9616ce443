import { z } from 'zod';
import { querySchema } from '../../../protocol/graph.js';
import {
  refuseIneffective,
  retrievalFields,
  retrievalPlanSchema,
  staleMark,
} from '../../../protocol/retrieval.js';
import type { NodeSchema } from '../../node-schema.js';

export const schema = {
  type: 'retrieve',
  params: z
    .strictObject({
      embedded_string_storage: z
        .string()
        .describe('Name of a storage, or path of a knowledge base config inside the storage root.'),
      ...retrievalFields,
      query: querySchema,
      emit: z.boolean().default(false).describe('TurnComplete has the hits of this node.'),
    })
    .superRefine(refuseIneffective),
  report: {
    embed_ms: z.number().optional().describe('Time to embed the query.'),
    search_ms: z.number().optional().describe('Time of the search.'),
    plan: retrievalPlanSchema.optional().describe('How the search ran.'),
    stale: staleMark,
  },
  components: [],
} as const satisfies NodeSchema;

export type RetrieveParams = z.output<typeof schema.params>;
