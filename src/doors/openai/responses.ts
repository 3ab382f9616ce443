import { z } from 'zod';
import { boundedArray, uncheckedArray } from '../../base/schema/bounded.js';
import { mapInSlices } from '../../base/waiting/next-slice.js';
import type { Exchange } from '../http/exchange.js';
import type { FieldNames } from '../http/failure.js';
import type { Route } from '../http/route.js';
import { type Conversation, conversationOf, type Message } from './conversation.js';
import {
  contentSchema,
  contentText,
  formatOf,
  formatSchema,
  functionFields,
  only,
  optional,
  refusedFields,
  samplingFields,
  samplingParams,
  toolArray,
  toolChoice,
  toolChoiceSchema,
  unsupported,
} from './fields.js';
import { topLogprobsField, wantedLogprobs } from './logprobs.js';
import { makeReply, type ReplyRequest, replyFieldNames, replyHeaders } from './reply.js';
import { responseReply } from './reply-schemas.js';
import { Response } from './response.js';
import { ResponseStream } from './response-stream.js';
import type { Targets } from './targets.js';

const callId = z.string().max(256);

const itemSchema = z.union(
  [
    z.object({
      type: z.literal('function_call'),
      call_id: callId,
      name: z.string().max(64),
      arguments: z.string(),
    }),
    z.object({ type: z.literal('function_call_output'), call_id: callId, output: contentSchema }),
    z.object({ type: z.literal('reasoning') }),
    z
      .object({ type: z.literal('item_reference') })
      .refine(
        () => false,
        'item_reference is not supported: this server keeps no items; send the item itself, as clients do with store false',
      )
      .meta({ not: {} }),
    z.object({
      type: optional(z.literal('message')),
      role: z.enum(['system', 'developer', 'user', 'assistant']),
      content: contentSchema,
    }),
  ],
  { error: 'a message, a function_call, a function_call_output or a reasoning is expected' },
);

const tool = z.object({
  type: z.literal('function', 'only tools of type "function" are supported'),
  ...functionFields,
});

/** The value of `include` that asks for log-probabilities. */
const includedLogprobs = 'message.output_text.logprobs';

export const responsesBody = z.object({
  model: z.string().min(1).max(128).describe('An agent, a knowledge base or a language model of /v1/models.'),
  input: z
    .union([z.string(), uncheckedArray(itemSchema, 1, 20_000)], {
      error: 'a text, or an array of items, is expected',
    })
    .describe('The conversation.'),
  instructions: optional(z.string()).describe('The system text.'),
  ...samplingFields,
  max_output_tokens: optional(z.int().min(1).max(1_048_576)).describe('Limit of the reply, in tokens.'),
  stream: optional(z.boolean()).describe('Sends the reply in pieces.'),
  text: optional(z.object({ format: optional(formatSchema) })).describe(
    '`format`: constrains the reply to JSON.',
  ),
  tools: optional(toolArray(tool)).describe('Functions of the client that a reply may call.'),
  tool_choice: optional(toolChoiceSchema).describe('Whether the reply must call a tool.'),
  parallel_tool_calls: optional(z.boolean()).describe('false: at most one call.'),
  include: optional(boundedArray(z.string().max(256), 0, 64)).describe(
    `\`${includedLogprobs}\`: adds the log-probabilities of the tokens. Other values are ignored.`,
  ),
  top_logprobs: topLogprobsField,
  ...refusedFields,
  background: unsupported('is not supported', only(false)).describe('Only false.'),
  prompt: unsupported('this server keeps no prompts').describe('Not supported.'),
});

type ResponsesBody = z.output<typeof responsesBody>;

const usualNames = replyFieldNames('input');

/** Fields that are called otherwise than those of chat completions. */
const ownNames: Readonly<Record<string, string>> = {
  response_format: 'text.format',
  max_tokens: 'max_output_tokens',
};

const fieldNames: FieldNames = (path) => {
  const name = usualNames(path);
  return name === undefined ? undefined : (ownNames[name] ?? name);
};

export function responsesRoute(targets: Targets): Route {
  return {
    method: 'POST',
    path: '/v1/responses',
    right: 'chat',
    operation: 'create_response',
    summary: 'Replies to a conversation, as the newer API of OpenAI does.',
    body: responsesBody,
    headers: replyHeaders,
    reply: responseReply,
    streams: 'if `stream` is true',
    fieldNames,
    serve: (exchange) => respond(exchange, targets),
  };
}

async function respond(exchange: Exchange, targets: Targets): Promise<void> {
  const body = await exchange.body(responsesBody);
  const items =
    typeof body.input === 'string'
      ? [{ role: 'user' as const, text: body.input }]
      : (await mapInSlices(await exchange.items(itemSchema, body.input, 'input'), messageIn)).flat();
  const system =
    body.instructions === undefined ? [] : [{ role: 'system' as const, text: body.instructions }];
  const request = replyRequest(body, await conversationOf([...system, ...items], 'input'), targets);
  const response = new Response(body);
  if (body.stream) return new ResponseStream(exchange, response, fieldNames).run(targets, request);
  const reply = await makeReply(exchange, targets, request, (kind, text) =>
    response.thoughts.add(kind, text),
  );
  await exchange.sendJson(response.completed(reply));
}

function replyRequest(body: ResponsesBody, conversation: Conversation, targets: Targets): ReplyRequest {
  return {
    target: targets.find(body.model),
    conversation,
    params: {
      ...samplingParams(body),
      ...(body.max_output_tokens !== undefined && { max_tokens: body.max_output_tokens }),
    },
    format: formatOf(body.text?.format, 'text.format'),
    tools: (body.tools ?? []).map(({ name, description = '', parameters = { type: 'object' } }, index) => ({
      name,
      description,
      parameters,
      where: `tools[${index}]`,
    })),
    toolChoice: toolChoice(body.tool_choice),
    parallelCalls: body.parallel_tool_calls ?? true,
    stream: body.stream ?? false,
    topLogprobs: wantedLogprobs(
      body.include?.includes(includedLogprobs) ?? false,
      body.top_logprobs,
      `include ["${includedLogprobs}"]`,
    ),
    logprobsField: 'include',
    keepsLogprobs: true,
  };
}

function messageIn(item: z.output<typeof itemSchema>): Message[] {
  if ('role' in item) {
    const text = contentText(item.content);
    if (item.role === 'assistant') return [{ role: 'assistant', text, calls: [] }];
    return [{ role: item.role === 'user' ? 'user' : 'system', text }];
  }
  if (item.type === 'function_call') {
    const { call_id: id, name, arguments: given } = item;
    return [{ role: 'assistant', text: '', calls: [{ id, name, arguments: given }] }];
  }
  if (item.type === 'function_call_output')
    return [{ role: 'tool', text: contentText(item.output), id: item.call_id }];
  return [];
}
