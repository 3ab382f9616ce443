import { z } from 'zod';
import type { NodeSchema } from '../../node-schema.js';
import { stringStorage } from '../string-storage.js';

export const schema = {
  type: 'canned_response',
  params: z.strictObject({
    string_storage: stringStorage('response'),
    seed: z
      .int()
      .min(0)
      .max(0xffff_ffff)
      .optional()
      .describe('Makes the sequence of responses the same for every agent with it. Default: by chance.'),
  }),
  report: {},
  components: [],
} as const satisfies NodeSchema;
