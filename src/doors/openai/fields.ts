import { z } from 'zod';
import { anyObject, boundedArray } from '../../base/schema/bounded.js';

/** An optional field; null counts as absent. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** A value that asks for nothing, besides null, and its JSON Schema. */
interface Nothing {
  is(value: unknown): boolean;
  readonly schema: object;
}

/** A value of its own that asks for nothing. */
export const only = (value: boolean | number): Nothing => ({
  is: (given) => given === value,
  schema: { const: value },
});

/** A field with a feature that this server lacks: refused unless it has a value that asks for nothing. */
export function unsupported(why: string, nothing?: Nothing) {
  const isNothing = (value: unknown) => value === undefined || value === null || nothing?.is(value) === true;
  const none = { type: 'null' };
  return z
    .unknown()
    .refine(isNothing, why)
    .optional()
    .meta(nothing === undefined ? none : { anyOf: [nothing.schema, none] });
}

const empty: Nothing = {
  is: (value) => {
    for (const _ in Object(value)) return false;
    return typeof value === 'object';
  },
  schema: { type: 'object', maxProperties: 0 },
};

/** Fields of both generating routes that are refused, by what they ask for. */
export const refusedFields = {
  store: unsupported('this server keeps no replies; false is expected', only(false)).describe('Only false.'),
  previous_response_id: unsupported(
    'this server keeps no replies; send the earlier ones in this request',
  ).describe('Not supported.'),
  conversation: unsupported(
    'this server keeps no conversations; send the earlier messages in this request',
  ).describe('Not supported.'),
  logit_bias: unsupported('is not supported', empty).describe('Only an empty object.'),
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
export const contentSchema = z.union([z.string(), boundedArray(z.union([textPart, refusalPart]), 0, 1000)], {
  error: ({ input }) =>
    Array.isArray(input) && input.length > 0
      ? 'only parts of text are supported, at most 1000'
      : 'a text, or an array of parts of text, is expected',
});

export function contentText(content: z.output<typeof contentSchema> | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join('\n');
}

/** Most tools of one request. */
const mostTools = 64;

/** A tool of the client: a function with a JSON Schema. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Its place in the request. */
  readonly where: string;
}

/** What the tools of one request may have, all together. */
const toolLimits = { values: 100_000, characters: 1_048_576 };

/** The tools of a request. */
export const toolArray = <Item extends z.ZodType>(item: Item) => boundedArray(item, 0, mostTools, toolLimits);

const functionName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'letters, digits, _, . and - are expected, at most 64');

export const functionFields = {
  name: functionName,
  description: optional(z.string().max(16_384)),
  parameters: optional(anyObject()),
};

const name = z.object({ name: functionName });

/** A function, as chat completions and as responses name it. */
const namedFunction = z.union([
  z.object({ type: z.literal('function'), function: name }),
  z.object({ type: z.literal('function'), ...name.shape }),
]);

const allowed = { mode: z.enum(['auto', 'required']), tools: boundedArray(namedFunction, 1, mostTools) };

/** `tool_choice` of chat completions and of responses. */
export const toolChoiceSchema = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    namedFunction,
    z.object({ type: z.literal('allowed_tools'), allowed_tools: z.object(allowed) }),
    z.object({ type: z.literal('allowed_tools'), ...allowed }),
  ],
  { error: '"none", "auto", "required", a function or allowed_tools of functions is expected' },
);

/** Whether a reply may or must call tools, and which; undefined: each of them. */
export interface ToolChoice {
  readonly mode: 'none' | 'auto' | 'required';
  readonly names?: readonly string[] | undefined;
  /** Whether at most one call is wanted, whatever else the request says. */
  readonly once?: boolean;
}

export function toolChoice(given: z.output<typeof toolChoiceSchema> | undefined): ToolChoice {
  if (given === undefined) return { mode: 'auto' };
  if (typeof given === 'string') return { mode: given };
  if (given.type === 'function') return { mode: 'required', names: [functionNameOf(given)], once: true };
  const { mode, tools } = 'allowed_tools' in given ? given.allowed_tools : given;
  return { mode, names: tools.map(functionNameOf) };
}

const functionNameOf = (given: z.output<typeof namedFunction>) =>
  'function' in given ? given.function.name : given.name;

/** JSON Schema of `{"type": "json_object"}`. */
const objectSchema = { type: 'object' };

export const formatSchema = z.union(
  [
    z.object({ type: z.enum(['text', 'json_object']) }),
    z.object({
      type: z.literal('json_schema'),
      json_schema: z.object({ schema: optional(anyObject()) }),
    }),
    z.object({ type: z.literal('json_schema'), schema: anyObject() }),
  ],
  { error: '{"type": "text"}, {"type": "json_object"} or {"type": "json_schema"} with a schema is expected' },
);

/** A JSON Schema that a reply follows. */
export interface Format {
  readonly schema: object;
  /** The field of the request that demands it. */
  readonly field: string;
}

/** Returns the JSON that the value of a field demands; undefined for text. */
export function formatOf(
  given: z.output<typeof formatSchema> | undefined,
  field: string,
): Format | undefined {
  const schema = given && jsonSchemaOf(given);
  return schema && { schema, field };
}

function jsonSchemaOf(format: z.output<typeof formatSchema>): object | undefined {
  if ('json_schema' in format) return format.json_schema.schema ?? objectSchema;
  if ('schema' in format) return format.schema;
  return format.type === 'json_object' ? objectSchema : undefined;
}
