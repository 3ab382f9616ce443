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
      .describe('Agents with the same seed give the same sequence of responses. Default: random.'),
  }),
  report: {},
  components: [],
  engine: undefined,
} as const satisfies NodeSchema;
