import { z } from 'zod';
import { nodeIdSchema } from '../../../protocol/graph.js';
import type { NodeSchema } from '../../node-schema.js';
import { stringStorage } from '../string-storage.js';

/** A pattern that the user's message contains, at its first match. */
const guardrailMatch = z.object({
  _type: z.literal('guardrail_match'),
  node: z.string().describe('Id of the node that looked.'),
  pattern: z.string().describe('The pattern as it is written in its file.'),
  line: z.int().describe('Its line there, from 1.'),
  match: z.string().describe('What it found, at most 256 characters of it.'),
  start: z.int().describe('Where in the message, in UTF-16 units from 0.'),
  end: z.int().describe('Behind its last unit.'),
});

export const schema = {
  type: 'regex_guardrail',
  params: z.strictObject({
    string_storage: stringStorage('pattern'),
    on_match: nodeIdSchema
      .optional()
      .describe(
        'Id of the node that the turn goes on with after a match. Default: nodes run as without one.',
      ),
  }),
  report: {
    matches: z.int().optional().describe('Patterns that matched.'),
  },
  components: [guardrailMatch],
} as const satisfies NodeSchema;

export type GuardrailMatch = z.output<typeof guardrailMatch>;
