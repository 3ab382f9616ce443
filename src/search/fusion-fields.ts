import { z } from 'zod';

/** The fields of both fusions, in requests and in catalog entries. */
export const fusionFields = {
  weight: z.number().min(0).max(1000).optional(),
  k: z.number().min(0).max(1e6).optional().describe('The k of weight / (k + rank). Default 60.'),
  candidates: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('Depth of each leg, never less than top_k. Default max(50, 4 top_k).'),
  share: z.number().min(0).max(1).optional(),
};
