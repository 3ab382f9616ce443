import { randomUUID } from 'node:crypto';
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
import { type TokenLogprobs, topLogprobsField, wantedLogprobs } from './logprobs.js';
import {
  makeReply,
  type Reply,
  type ReplyRequest,
  replyFieldNames,
  replyHeaders,
  streamError,
} from './reply.js';
import { chatReply } from './reply-schemas.js';
import type { Targets } from './targets.js';

const content = optional(contentSchema);
const toolCall = z.object({
  id: z.string().max(256),
  function: z.object({ name: z.string().max(64), arguments: z.string() }),
});

const messageSchema = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.enum(['system', 'developer', 'user']), content: contentSchema }),
    z.object({ role: z.literal('assistant'), content, tool_calls: optional(boundedArray(toolCall, 0, 128)) }),
    z.object({ role: z.literal('tool'), content: contentSchema, tool_call_id: z.string().max(256) }),
  ],
  { error: 'a message of system, developer, user, assistant or tool is expected' },
);

const tool = z.object({
  type: z.literal('function', 'only tools of type "function" are supported'),
  function: z.object(functionFields),
});

const textAlone = {
  is: (value: unknown) => Array.isArray(value) && value.length === 1 && value[0] === 'text',
  schema: { type: 'array', items: { const: 'text' }, minItems: 1, maxItems: 1 },
};

export const chatBody = z.object({
  model: z.string().min(1).max(128).describe('An agent, a knowledge base or a language model of /v1/models.'),
  messages: uncheckedArray(messageSchema, 1, 20_000, 'The conversation; the last message is answered.'),
  ...samplingFields,
  max_tokens: optional(z.int().min(1).max(1_048_576)).describe('Limit of the reply, in tokens.'),
  max_completion_tokens: optional(z.int().min(1).max(1_048_576)).describe('The newer name of `max_tokens`.'),
  stop: optional(
    z.union([z.string(), boundedArray(z.string(), 0, 16)], {
      error: 'a text, or an array of at most 16 texts, is expected',
    }),
  ).describe('Texts before which the reply ends.'),
  stream: optional(z.boolean()).describe('Sends the reply in pieces.'),
  stream_options: optional(z.object({ include_usage: optional(z.boolean()) })).describe(
    '`include_usage`: the last piece has the usage.',
  ),
  response_format: optional(formatSchema).describe('Constrains the reply to JSON.'),
  tools: optional(toolArray(tool)).describe('Functions of the client that a reply may call.'),
  tool_choice: optional(toolChoiceSchema).describe('Whether the reply must call a tool.'),
  parallel_tool_calls: optional(z.boolean()).describe('false: at most one call.'),
  logprobs: optional(z.boolean()).describe('Adds the log-probabilities of the tokens.'),
  top_logprobs: topLogprobsField,
  ...refusedFields,
  n: unsupported('only 1 is supported', only(1)).describe('Only 1.'),
  audio: unsupported('is not supported'),
  modalities: unsupported('a modality besides text is not supported', textAlone),
  functions: unsupported('is not supported; use tools'),
  function_call: unsupported('is not supported; use tool_choice'),
});

type ChatBody = z.output<typeof chatBody>;
type ChatMessage = z.output<typeof messageSchema>;

const fieldNames = replyFieldNames('messages');

/** The names of a body with the newer name of the limit. */
const newerNames: FieldNames = (path) => {
  const name = fieldNames(path);
  return name === 'max_tokens' ? 'max_completion_tokens' : name;
};

export function chatRoute(targets: Targets): Route {
  return {
    method: 'POST',
    path: '/v1/chat/completions',
    right: 'chat',
    operation: 'create_chat_completion',
    summary: 'Replies to a conversation, as the API of OpenAI does.',
    body: chatBody,
    headers: replyHeaders,
    reply: chatReply,
    streams: 'if `stream` is true',
    fieldNames,
    serve: (exchange) => chat(exchange, targets),
  };
}

async function chat(exchange: Exchange, targets: Targets): Promise<void> {
  const body = await exchange.body(chatBody);
  if (body.max_completion_tokens !== undefined) exchange.fieldNames = newerNames;
  const messages = await exchange.items(messageSchema, body.messages, 'messages');
  const conversation = await conversationOf(await mapInSlices(messages, messageIn), 'messages');
  const request = replyRequest(body, conversation, targets);
  const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: body.model };
  if (body.stream)
    return stream(exchange, targets, request, head, body.stream_options?.include_usage === true);
  const reply = await makeReply(exchange, targets, request, () => {});
  await exchange.sendJson({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: messageOf(reply),
        logprobs: logprobsOf(reply.logprobs),
        finish_reason: reply.finish,
      },
    ],
    usage: usageOf(reply),
  });
}

function replyRequest(body: ChatBody, conversation: Conversation, targets: Targets): ReplyRequest {
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const stop = stopsOf(body.stop);
  return {
    target: targets.find(body.model),
    conversation,
    params: {
      ...samplingParams(body),
      ...(maxTokens !== undefined && { max_tokens: maxTokens }),
      ...(stop.length > 0 && { stop }),
    },
    format: formatOf(body.response_format, 'response_format'),
    tools: (body.tools ?? []).map(
      ({ function: { name, description = '', parameters = { type: 'object' } } }, index) => ({
        name,
        description,
        parameters,
        where: `tools[${index}].function`,
      }),
    ),
    toolChoice: toolChoice(body.tool_choice),
    parallelCalls: body.parallel_tool_calls ?? true,
    stream: body.stream ?? false,
    topLogprobs: wantedLogprobs(body.logprobs ?? false, body.top_logprobs, 'logprobs true'),
    logprobsField: 'logprobs',
    keepsLogprobs: body.stream !== true,
  };
}

const stopsOf = (stop: string | string[] | undefined) =>
  (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((text) => text !== '');

function messageIn(message: ChatMessage): Message {
  const text = contentText(message.content);
  switch (message.role) {
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(({ id, function: called }) => ({ id, ...called }));
      return { role: 'assistant', text, calls };
    }
    case 'tool':
      return { role: 'tool', text, id: message.tool_call_id };
    case 'user':
      return { role: 'user', text };
    default:
      return { role: 'system', text };
  }
}

function messageOf({ text, thinking, calls, annotations }: Reply) {
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    annotations: annotationsOf(annotations),
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
  };
}

const logprobsOf = (tokens: readonly TokenLogprobs[] | undefined) =>
  tokens === undefined ? null : { content: tokens, refusal: null };

const annotationsOf = (annotations: Reply['annotations']) =>
  annotations.map((citation) => ({ type: 'url_citation', url_citation: citation }));

const callOf = ({ id, name, arguments: given }: Reply['calls'][number]) => ({
  id,
  type: 'function',
  function: { name, arguments: given },
});

function usageOf({ usage: { prompt, cached, completion } }: Reply) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

async function stream(
  exchange: Exchange,
  targets: Targets,
  request: ReplyRequest,
  head: object,
  includeUsage: boolean,
): Promise<void> {
  const chunk = (
    delta: object,
    finish_reason: string | null = null,
    tokens?: readonly TokenLogprobs[] | undefined,
  ) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: logprobsOf(tokens), finish_reason }],
    ...(includeUsage && { usage: null }),
  });
  // A request that is refused before its first text gets a status.
  const begin = () => {
    if (exchange.hasBegun) return;
    exchange.beginEvents();
    exchange.sendEvent(chunk({ role: 'assistant', content: '' }));
  };
  try {
    const reply = await makeReply(exchange, targets, request, (kind, text, tokens) => {
      begin();
      const delta = kind === 'reply' ? { content: text } : { reasoning_content: text };
      exchange.sendEvent(chunk(delta, null, tokens));
    });
    begin();
    const { calls, annotations, finish } = reply;
    for (const [index, call] of calls.entries())
      exchange.sendEvent(chunk({ tool_calls: [{ index, ...callOf(call) }] }));
    if (annotations.length > 0) exchange.sendEvent(chunk({ annotations: annotationsOf(annotations) }));
    exchange.sendEvent(chunk({}, finish));
    if (includeUsage) exchange.sendEvent({ ...chunk({}), choices: [], usage: usageOf(reply) });
    exchange.sendEvent('[DONE]');
  } catch (thrown) {
    if (!exchange.hasBegun) throw thrown;
    exchange.sendEvent(streamError(thrown, exchange, exchange.fieldNames ?? fieldNames));
  }
  await exchange.endEvents();
}
