import { z } from 'zod';
import { type SamplingFields, samplingOptions } from '../../../../lib/basics.js';
import { boundedArray, smallObject } from '../../../base/schema/bounded.js';
import { wellFormed } from '../../../base/schema/well-formed.js';
import { droppedSchema, finishSchema } from '../../../protocol/engine.js';
import { nodeIdSchema } from '../../../protocol/graph.js';
import { frameFields } from '../../../search/option-fields.js';
import type { NodeSchema } from '../../node-schema.js';

/** Limits of a node's JSON Schemas: converting them to a grammar takes some milliseconds. */
export const schemaLimits = { values: 5000, characters: 262_144 };
const jsonSchema = () => smallObject(schemaLimits.values, schemaLimits.characters);

/** Maximum number of bytes of a stop text. */
const longestStop = 1024;

/** A Mustache template. */
const template = () => z.string().max(16_384);

const knowledge = z.strictObject({
  placement: z
    .enum(['before_user', 'system', 'template'])
    .default('before_user')
    .describe(
      'Place of the records: before the last user message, after the system text, or where `system` and `prompt` put them.',
    ),
  item: template()
    .optional()
    .describe('Mustache template of one record. Default: its text, and with `cite` `marks` its number.'),
  header: template().optional().describe('Text before the records; also a template. Default: `Context:`.'),
  footer: template().optional().describe('Text after the records; also a template.'),
  max_tokens: z
    .int()
    .min(1)
    .max(1_048_576)
    .optional()
    .describe(
      'Limit of all records together, in tokens; the lowest-ranked ones are left out. Default: none.',
    ),
  order: z
    .enum(['rank', 'reversed'])
    .optional()
    .describe(
      '`rank`: the best record comes first. `reversed`: it comes last, next to the message. Default: `reversed` with placement `before_user`, otherwise `rank`; always `rank` with `cite` `marks`.',
    ),
});

const action = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, 'letters, digits, _ and - are expected, at most 64')
    .describe('Name of the action; unique.'),
  description: z.string().max(2048).default('').describe('Description of its effect, for the model.'),
  parameters: jsonSchema()
    .default({ type: 'object', additionalProperties: false })
    .describe('JSON Schema of its arguments. Default: an empty object.'),
});

/** Diagnostics of the engine for a reply. */
const engine = z.object({
  kind: z.literal('generation'),
  model: z.string().describe('Catalog name.'),
  fingerprint: z.string().describe('Fingerprint of the model file, hexadecimal.'),
  device: z.string().describe('Device that computes.'),
  runtime: z.string().describe('Runtime of the model: `llama.cpp` or `decoder`.'),
  class: z
    .enum(['interactive_visible', 'interactive_buffered', 'background'])
    .describe('Class of the scheduler.'),
  context_size: z.int().describe('Context of this node, in tokens.'),
  prepare_ms: z.number().describe('Rendering, counting and fitting the prompt.'),
  queue_ms: z.number().describe('Waiting for the model.'),
  prefill_ms: z.number().describe('Computing the prompt.'),
  prefill_tokens: z.int().describe('Tokens of the prompt that were computed.'),
  reused_tokens: z.int().describe('Tokens of the prompt that were in the cache.'),
  prefill_chunks: z.int().describe('Steps that computed the prompt.'),
  decode_ms: z.number().describe('From the first token to the last.'),
  decode_tokens: z.int().describe('Generated tokens.'),
  drafted_tokens: z.int().describe('Tokens that prompt lookup suggested.'),
  accepted_tokens: z.int().describe('Suggested tokens that the model agreed with: each saved a step.'),
  longest_gap_ms: z.number().describe('Longest time between two tokens.'),
  paused_ms: z.number().describe('Pauses for a throttle, inside the times above.'),
  constraint_waits: z
    .int()
    .describe('Tokens that waited until the allowed ones were known: a dear grammar, schema or quotation.'),
  constraint_ms: z.number().describe('Time of these waits, inside the times above.'),
  other_ms: z.number().describe("The rest of the node's time."),
  dropped: droppedSchema.describe('Parts that did not fit into the prompt.'),
  finish: finishSchema.describe('Why the reply ended.'),
  seed: z.number().describe('Seed of the sampling.'),
});

export const schema = {
  type: 'generate',
  params: z.strictObject({
    model: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe(
        'Catalog name of a language model. Default: the first one of the catalog whose file is present.',
      ),
    system: template()
      .optional()
      .describe(
        'Mustache template of the system text. Default: a text that suits knowledge and `cite`. Empty: none.',
      ),
    prompt: template()
      .min(1)
      .optional()
      .describe(
        "Mustache template of the last user message. Default: the user's message; after records in the same message, the lines `Question: {{text}}` and `Answer with a sentence of the context:` (with `cite`: `Answer:`).",
      ),
    knowledge: knowledge.prefault({}).describe('How knowledge enters the prompt.'),
    history: z
      .strictObject({
        turns: z.int().min(0).max(10_000).default(100).describe('Limit of earlier turns in the prompt.'),
      })
      .prefault({})
      .describe('`turns`: limit of earlier turns in the prompt.'),
    max_tokens: z
      .int()
      .min(1)
      .max(1_048_576)
      .optional()
      .describe('Limit of the reply, in tokens. Default: 512, or a quarter of the context if that is less.'),
    context_size: z
      .int()
      .min(16)
      .max(1_048_576)
      .optional()
      .describe("Context in tokens, at most the model's. Default: the catalog's, then the config's."),
    ...frameFields<SamplingFields>(samplingOptions),
    seed: z.int().min(0).max(0xffff_fffe).optional().describe('Seed of the sampling. Default: random.'),
    stop: boundedArray(
      z
        .string()
        .min(1)
        .max(longestStop)
        .refine(
          (text) => wellFormed(text) && Buffer.byteLength(text) <= longestStop,
          `a text of at most ${longestStop} bytes of UTF-8 is expected`,
        ),
      1,
      16,
    )
      .optional()
      .describe('Texts before which the reply ends.'),
    drafts: z
      .boolean()
      .default(true)
      .describe('Whether tokens looked up in the prompt may speed up a reply that has the model to itself.'),
    logprobs: z
      .int()
      .min(0)
      .max(20)
      .optional()
      .describe(
        'TurnText has the log-probability of each token of the reply, and those of this many likeliest tokens in its place. Default: none.',
      ),
    json_schema: jsonSchema().optional().describe('Constrains the reply to this JSON Schema.'),
    grammar: z.string().min(1).max(65_536).optional().describe('Constrains the reply to this GBNF grammar.'),
    thinking: z
      .union(
        [
          z.enum(['off', 'on']),
          z.strictObject({ budget: z.int().min(1).max(1_048_576).describe('Limit of thinking, in tokens.') }),
        ],
        { error: '"off", "on" or {"budget": tokens} is expected' },
      )
      .default('off')
      .describe('Whether a model that can think does so first, and for how many tokens at most.'),
    class: z
      .enum(['interactive_visible', 'interactive_buffered', 'background'])
      .default('interactive_visible')
      .describe(
        'Class of the scheduler. It decides whether text is sent per step, per sentence, or at the end.',
      ),
    stream: z.boolean().optional().describe('false: text is sent at the end. Default: as the class says.'),
    cite: z
      .enum(['none', 'marks', 'verbatim'])
      .default('none')
      .describe(
        '`marks`: `[n]` in the reply cites the n-th record. `verbatim`: quotations are spans of records.',
      ),
    actions: boundedArray(action, 1, 64, schemaLimits)
      .optional()
      .describe('Actions for the client. A reply may end by asking for one of them.'),
    memory: nodeIdSchema
      .optional()
      .describe(
        'Id of a `remember` node of the graph. A reply may end with its actions `remember` and `forget`, which the server carries out.',
      ),
    on_no_knowledge: z
      .enum(['answer', 'fallback', 'refuse'])
      .default('answer')
      .describe('If no record is relevant: generate anyway, reply with `fallback`, or fail with 4015.'),
    fallback: z
      .string()
      .min(1)
      .max(16_384)
      .optional()
      .describe('The reply for `on_no_knowledge` `fallback`.'),
    min_relevance: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('Minimum relevance of a record for `on_no_knowledge`. Default: 0.5.'),
    deadline_ms: z
      .int()
      .min(1)
      .max(86_400_000)
      .optional()
      .describe('Milliseconds after the start of the node at which the reply ends with the text so far.'),
  }),
  report: {
    finish: finishSchema.optional().describe('Why the reply ended; absent if nothing was generated.'),
    prompt_tokens: z.int().optional().describe('Tokens of the prompt.'),
    cached_tokens: z.int().optional().describe('Tokens of the prompt that were in the cache.'),
    completion_tokens: z.int().optional().describe('Generated tokens, thinking included.'),
    history_turns: z.int().optional().describe('Turns of history in the prompt.'),
    knowledge_records: z.int().optional().describe('Records in the prompt.'),
    dropped: droppedSchema.optional().describe('Parts that did not fit into the prompt.'),
    forgotten_turns: z
      .int()
      .optional()
      .describe(
        "Turns that the agent forgot because they exceeded `history.turns` or the client's memory budget.",
      ),
    removed_marks: z
      .int()
      .optional()
      .describe('Numbers in marks that are not the number of a record; they are removed from the reply.'),
    relevance: z.number().optional().describe('Relevance of the best record.'),
    volatile_prefix: z
      .boolean()
      .optional()
      .describe('Whether the system text differs from the previous one, so that it is computed again.'),
  },
  components: [],
  engine,
  remembers: true,
} as const satisfies NodeSchema;

export type GenerationDiagnostics = z.output<typeof engine>;
export type GenerateParams = z.output<typeof schema.params>;
