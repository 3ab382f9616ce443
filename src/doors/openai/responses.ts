import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Exchange } from '../http/exchange.js';
import type { Route } from '../http/route.js';
import { conversationOf, type Message } from './conversation.js';
import {
  contentSchema,
  contentText,
  formatJsonSchema,
  formatSchema,
  functionFields,
  optional,
  refusedFields,
  samplingFields,
  samplingParams,
  toolChoice,
  toolChoiceSchema,
  unsupported,
} from './fields.js';
import { makeReply, type Reply, type ReplyRequest, replyFieldNames, streamError } from './reply.js';
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

export const responsesBody = z.object({
  model: z.string().min(1).max(128).describe('An agent, a knowledge base or a language model of /v1/models.'),
  input: z
    .union([z.string(), z.array(itemSchema).min(1).max(20_000)], {
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
  tools: optional(z.array(tool).max(64)).describe('Functions of the client that a reply may call.'),
  tool_choice: optional(toolChoiceSchema).describe('Whether the reply must call a tool.'),
  parallel_tool_calls: optional(z.boolean()).describe('false: at most one call.'),
  ...refusedFields,
  previous_response_id: unsupported(
    'continuing a stored reply: send the earlier items in input, so previous_response_id',
  ).describe('Not supported.'),
  conversation: unsupported(
    'a stored conversation: send the earlier items in input, so conversation',
  ).describe('Not supported.'),
  background: unsupported('background', (value) => value === false).describe('Only false.'),
  prompt: unsupported('a stored prompt').describe('Not supported.'),
});

type ResponsesBody = z.output<typeof responsesBody>;

const fieldNames = replyFieldNames('input');

export function responsesRoute(targets: Targets): Route {
  return {
    method: 'POST',
    path: '/v1/responses',
    right: 'chat',
    operation: 'create_response',
    summary: 'Replies to a conversation, as the newer API of OpenAI does.',
    body: responsesBody,
    reply: z.looseObject({ id: z.string(), output: z.array(z.looseObject({})) }),
    fieldNames: (path) => {
      const name = fieldNames(path);
      return name === 'response_format' ? 'text.format' : name === 'max_tokens' ? 'max_output_tokens' : name;
    },
    serve: (exchange) => respond(exchange, targets),
  };
}

async function respond(exchange: Exchange, targets: Targets): Promise<void> {
  const body = await exchange.body(responsesBody);
  const request = replyRequest(body, targets);
  const response = new Response(body);
  if (body.stream) return new ResponseStream(exchange, response).run(targets, request);
  const reply = await makeReply(exchange, targets, request, () => {});
  await exchange.sendJson(response.completed(reply));
}

function replyRequest(body: ResponsesBody, targets: Targets): ReplyRequest {
  const items =
    typeof body.input === 'string'
      ? [{ role: 'user' as const, text: body.input }]
      : body.input.flatMap(messageIn);
  const system =
    body.instructions === undefined ? [] : [{ role: 'system' as const, text: body.instructions }];
  return {
    target: targets.find(body.model),
    conversation: conversationOf([...system, ...items], 'input'),
    params: {
      ...samplingParams(body),
      ...(body.max_output_tokens !== undefined && { max_tokens: body.max_output_tokens }),
    },
    jsonSchema: formatJsonSchema(body.text?.format),
    tools: (body.tools ?? []).map(({ name, description = '', parameters = { type: 'object' } }, index) => ({
      name,
      description,
      parameters,
      where: `tools[${index}]`,
    })),
    toolChoice: toolChoice(body.tool_choice),
    parallelCalls: body.parallel_tool_calls ?? true,
    stream: body.stream ?? false,
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

const newId = (prefix: string) => `${prefix}_${randomUUID().replaceAll('-', '')}`;

/** The object of a response in its states. */
class Response {
  readonly #messageId = newId('msg');
  readonly #head: object;

  constructor({
    model,
    instructions,
    temperature,
    top_p,
    max_output_tokens,
    tools,
    tool_choice,
    parallel_tool_calls,
    text,
  }: ResponsesBody) {
    this.#head = {
      id: newId('resp'),
      object: 'response',
      created_at: Math.floor(Date.now() / 1000),
      model,
      instructions: instructions ?? null,
      temperature: temperature ?? null,
      top_p: top_p ?? null,
      max_output_tokens: max_output_tokens ?? null,
      tools: tools ?? [],
      tool_choice: tool_choice ?? 'auto',
      parallel_tool_calls: parallel_tool_calls ?? true,
      text: text ?? { format: { type: 'text' } },
      metadata: {},
      store: false,
      previous_response_id: null,
      error: null,
    };
  }

  get begun(): object {
    return { ...this.#head, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  }

  failed(error: object): object {
    return { ...this.begun, status: 'failed', error };
  }

  completed(reply: Reply): object {
    const cut = reply.finish === 'length';
    const { prompt, cached, completion } = reply.usage;
    return {
      ...this.#head,
      status: cut ? 'incomplete' : 'completed',
      incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
      output: this.output(reply),
      usage: {
        input_tokens: prompt,
        input_tokens_details: { cached_tokens: cached },
        output_tokens: completion,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: prompt + completion,
      },
    };
  }

  output(reply: Reply): object[] {
    const message =
      reply.text === '' && reply.calls.length > 0
        ? []
        : [
            this.message(
              textPart(reply.text, reply.annotations),
              reply.finish === 'length' ? 'incomplete' : 'completed',
            ),
          ];
    return [...message, ...reply.calls.map(callItem)];
  }

  message(part: object | undefined, status: string) {
    const content = part === undefined ? [] : [part];
    return { id: this.#messageId, type: 'message', role: 'assistant', status, content };
  }
}

const textPart = (text: string, annotations: Reply['annotations']) => ({
  type: 'output_text',
  text,
  annotations: annotations.map((citation) => ({ type: 'url_citation', ...citation })),
  logprobs: [],
});

const callItem = ({ id, name, arguments: given }: Reply['calls'][number]) => ({
  id: `fc_${id.slice('call_'.length)}`,
  type: 'function_call',
  status: 'completed',
  call_id: id,
  name,
  arguments: given,
});

/** The events of a streamed response. */
class ResponseStream {
  readonly #exchange: Exchange;
  readonly #response: Response;
  #sequence = 0;
  #isOpen = false;

  constructor(exchange: Exchange, response: Response) {
    this.#exchange = exchange;
    this.#response = response;
  }

  async run(targets: Targets, request: ReplyRequest): Promise<void> {
    const exchange = this.#exchange;
    try {
      const reply = await makeReply(exchange, targets, request, (kind, text) => {
        if (kind === 'reply') this.#text(text);
      });
      this.#end(reply);
    } catch (thrown) {
      if (!exchange.hasBegun) throw thrown;
      const { error } = streamError(thrown, exchange, fieldNames) as {
        error: { code: string; message: string };
      };
      const { code, message } = error;
      this.#send('response.failed', { response: this.#response.failed({ code, message }) });
    }
    exchange.endEvents();
  }

  #begin(): void {
    if (this.#exchange.hasBegun) return;
    this.#exchange.beginEvents();
    this.#send('response.created', { response: this.#response.begun });
    this.#send('response.in_progress', { response: this.#response.begun });
  }

  #openText(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#begin();
    this.#send('response.output_item.added', {
      output_index: 0,
      item: this.#response.message(undefined, 'in_progress'),
    });
    this.#send('response.content_part.added', { ...this.#place, part: textPart('', []) });
  }

  get #place() {
    return { item_id: this.#response.message(undefined, '').id, output_index: 0, content_index: 0 };
  }

  #text(delta: string): void {
    this.#openText();
    this.#send('response.output_text.delta', { ...this.#place, delta, logprobs: [] });
  }

  #end(reply: Reply): void {
    this.#begin();
    const { text, annotations, calls } = reply;
    if (text !== '' || calls.length === 0) {
      this.#openText();
      for (const [annotation_index, annotation] of textPart(text, annotations).annotations.entries())
        this.#send('response.output_text.annotation.added', { ...this.#place, annotation_index, annotation });
      const part = textPart(text, annotations);
      this.#send('response.output_text.done', { ...this.#place, text, logprobs: [] });
      this.#send('response.content_part.done', { ...this.#place, part });
      this.#send('response.output_item.done', {
        output_index: 0,
        item: this.#response.message(part, 'completed'),
      });
    }
    const before = this.#isOpen ? 1 : 0;
    for (const [index, call] of calls.entries()) this.#call(callItem(call), before + index);
    const name = reply.finish === 'length' ? 'response.incomplete' : 'response.completed';
    this.#send(name, { response: this.#response.completed(reply) });
  }

  #call(item: ReturnType<typeof callItem>, output_index: number): void {
    const place = { item_id: item.id, output_index };
    this.#send('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', arguments: '' },
    });
    this.#send('response.function_call_arguments.delta', { ...place, delta: item.arguments });
    this.#send('response.function_call_arguments.done', {
      ...place,
      name: item.name,
      arguments: item.arguments,
    });
    this.#send('response.output_item.done', { output_index, item });
  }

  #send(type: string, fields: object): void {
    this.#exchange.sendEvent({ type, sequence_number: this.#sequence++, ...fields }, type);
  }
}
