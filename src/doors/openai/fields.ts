import { z } from 'zod';

/** An optional field; null counts as absent. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** A field with a feature that this server lacks: refused unless it has a value that asks for nothing. */
export function unsupported(what: string, asksNothing: (value: unknown) => boolean = () => false) {
  return z
    .unknown()
    .refine(
      (value) => value === undefined || value === null || asksNothing(value),
      `${what} is not supported`,
    )
    .optional();
}

const isFalse = (value: unknown) => value === false;
const isEmpty = (value: unknown) => typeof value === 'object' && Object.keys(value as object).length === 0;

/** Fields of both generating routes that are refused, by what they ask for. */
export const refusedFields = {
  store: unsupported('storing replies: this server keeps none, so store true', isFalse).describe(
    'Only false.',
  ),
  logprobs: unsupported('logprobs true', isFalse).describe('Only false.'),
  top_logprobs: unsupported('top_logprobs', (value) => value === 0).describe('Only 0.'),
  logit_bias: unsupported('logit_bias', isEmpty).describe('Only an empty object.'),
};

/** Sampling, as OpenAI and llama.cpp call it. */
export const samplingFields = {
  temperature: optional(z.number().min(0).max(10)).describe('0: always the likeliest token.'),
  top_p: optional(z.number().min(0).max(1)).describe('Share of probability to draw from.'),
  top_k: optional(z.int().min(0).max(1_048_576)).describe('Number of likeliest tokens to draw from.'),
  min_p: optional(z.number().min(0).max(1)).describe('Minimum probability, as a share of the likeliest.'),
  frequency_penalty: optional(z.number().min(-2).max(2)).describe('Subtracted for each use of a token.'),
  presence_penalty: optional(z.number().min(-2).max(2)).describe('Subtracted for a used token.'),
  repeat_penalty: optional(z.number().min(0.01).max(10)).describe('Divides the scores of recent tokens.'),
  seed: optional(z.int()).describe('Seed of the sampling.'),
};

const seeds = 0xffff_ffff;

type SamplingFields = { [Name in keyof typeof samplingFields]?: number | undefined };

const samplingNames = Object.keys(samplingFields) as (keyof SamplingFields)[];

/** Returns the params of a `generate` node for the sampling fields of a body. */
export function samplingParams(body: SamplingFields): SamplingFields {
  const params: SamplingFields = {};
  for (const name of samplingNames) {
    const value = body[name];
    if (value !== undefined) params[name] = engineValue[name]?.(value) ?? value;
  }
  return params;
}

const engineValue: Partial<Record<keyof SamplingFields, (value: number) => number>> = {
  // The engine's seeds have 32 bits.
  seed: (value) => ((value % seeds) + seeds) % seeds,
  // 0 asks for the likeliest token, and the engine wants a share above 0.
  top_p: (value) => Math.max(value, 1e-6),
};

const textPart = z.object({ type: z.enum(['text', 'input_text', 'output_text']), text: z.string() });
const refusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });

/** The content of a message: a text, or its parts. */
export const contentSchema = z.union(
  [
    z.string(),
    z.array(z.union([textPart, refusalPart], { error: 'only parts of text are supported' })).max(10_000),
  ],
  { error: 'a text, or an array of parts of text, is expected' },
);

export function contentText(content: z.output<typeof contentSchema> | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join('\n');
}

/** A tool of the client: a function with a JSON Schema. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Its place in the request. */
  readonly where: string;
}

const functionName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'letters, digits, _, . and - are expected, at most 64');

export const functionFields = {
  name: functionName,
  description: optional(z.string().max(16_384)),
  parameters: optional(z.record(z.string(), z.unknown())),
};

const name = z.object({ name: functionName });

/** `tool_choice` of chat completions and of responses. */
export const toolChoiceSchema = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    z.object({ type: z.literal('function'), function: name }),
    z.object({ type: z.literal('function'), ...name.shape }),
  ],
  { error: '"none", "auto", "required" or a function is expected' },
);

export type ToolChoice =
  | { readonly mode: 'none' | 'auto' | 'required' }
  | { readonly mode: 'named'; readonly name: string };

export function toolChoice(given: z.output<typeof toolChoiceSchema> | undefined): ToolChoice {
  if (given === undefined) return { mode: 'auto' };
  if (typeof given === 'string') return { mode: given };
  return { mode: 'named', name: 'function' in given ? given.function.name : given.name };
}

/** JSON Schema of `{"type": "json_object"}`. */
const anyObject = { type: 'object' };

export const formatSchema = z.union(
  [
    z.object({ type: z.enum(['text', 'json_object']) }),
    z.object({
      type: z.literal('json_schema'),
      json_schema: z.object({ schema: z.record(z.string(), z.unknown()) }),
    }),
    z.object({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }),
  ],
  { error: '{"type": "text"}, {"type": "json_object"} or {"type": "json_schema"} with a schema is expected' },
);

/** Returns the JSON Schema that a format demands; undefined for text. */
export function formatJsonSchema(format: z.output<typeof formatSchema> | undefined): object | undefined {
  if (format === undefined) return undefined;
  if ('json_schema' in format) return format.json_schema.schema;
  if ('schema' in format) return format.schema;
  return format.type === 'json_object' ? anyObject : undefined;
}
