import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Holding } from '../../fairness/client-memory.js';
import { ServerError, serverError } from '../../protocol/errors.js';
import type { ServerFrames } from '../../protocol/frames.js';
import type { Graph } from '../../protocol/graph.js';
import { refusalOf } from '../../storages/failure.js';
import type { Exchange } from '../http/exchange.js';
import { type FieldNames, faultOf, HttpRefusal, httpFailure } from '../http/failure.js';
import type { Parameter } from '../http/route.js';
import { nothingRelevant, whenNothingIsFound } from '../nothing-relevant.js';
import type { Conversation } from './conversation.js';
import type { Format, Tool, ToolChoice } from './fields.js';
import { scoredNode, TextLogprobs, type TokenLogprobs } from './logprobs.js';
import type { Target, Targets } from './targets.js';
import { CallSplitter, callableTools, describeTools, type ToolCall, toolGrammar } from './tools.js';

type Complete = ServerFrames['TurnComplete'];

/** A wanted reply, whichever route asks for it. */
export interface ReplyRequest {
  readonly target: Target;
  readonly conversation: Conversation;
  /** Params of `generate` nodes: sampling, max_tokens, stop. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The JSON that the reply must be, unless it calls tools. */
  readonly format: Format | undefined;
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelCalls: boolean;
  readonly stream: boolean;
  /** Alternatives of each token; undefined: no log-probabilities. */
  readonly topLogprobs: number | undefined;
  /** The field of the request that asks for log-probabilities. */
  readonly logprobsField: string;
  /** Whether the finished reply has them, besides its pieces. */
  readonly keepsLogprobs: boolean;
}

/** A finished reply. */
export interface Reply {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly (ToolCall & { readonly id: string })[];
  readonly annotations: readonly Annotation[];
  readonly usage: { readonly prompt: number; readonly cached: number; readonly completion: number };
  readonly finish: 'stop' | 'length' | 'tool_calls';
  /** Of the tokens of the text, if they were asked for. */
  readonly logprobs: readonly TokenLogprobs[] | undefined;
}

/** Takes pieces of a reply. `logprobs`: tokens that begin in a piece; undefined: not asked for. */
type OnText = (kind: 'reply' | 'thinking', text: string, logprobs?: readonly TokenLogprobs[]) => void;

/** A citation, as an annotation of the text. */
export interface Annotation {
  readonly start_index: number;
  readonly end_index: number;
  readonly url: string;
  readonly title: string;
}

/** The code of a prompt that is too long for the context of the model. */
const contextTooSmall = 4016;

const classes = ['interactive_visible', 'interactive_buffered', 'background'] as const;

const classHeader = 'X-Lorekeep-Class';

/** The headers of the routes that reply. */
export const replyHeaders: readonly Parameter[] = [
  {
    name: classHeader,
    schema: z
      .enum(classes)
      .optional()
      .describe(
        'Class of the scheduler. Default: interactive_visible for streams, else interactive_buffered.',
      ),
  },
];

/** Text that a knowledge base as `model` gives its language model. */
const knowledgeSystem =
  'Answer from the context. After each fact, write the number of its source, such as [1].';

/** Returns the scheduler's class: of the header, else by whether text is shown while it is made. @throws HttpRefusal */
function schedulerClass(exchange: Exchange, stream: boolean): string {
  const given = exchange.header(classHeader.toLowerCase());
  if (given === undefined) return stream ? 'interactive_visible' : 'interactive_buffered';
  if ((classes as readonly string[]).includes(given)) return given;
  throw new HttpRefusal(
    400,
    'invalid_field',
    `${classHeader}: one of ${classes.join(', ')} is expected`,
    classHeader,
  );
}

/** Makes a reply: one turn of an agent that lives as long. `onText` takes its pieces. @throws HttpRefusal, ServerError */
export async function makeReply(
  exchange: Exchange,
  targets: Targets,
  request: ReplyRequest,
  onText: OnText,
): Promise<Reply> {
  const { conversation } = request;
  const tools = callableTools(request.tools, request.toolChoice);
  const callsTools = tools.length > 0;
  const system = systemOf(request, tools);
  const graph = await graphOf(exchange, targets, request, { tools, hasSystem: system !== '' });
  const scores = scoresOf(request, graph);
  const { session } = exchange;
  const { agent_id } = await session
    .call('CreateAgentRequest', {
      graph,
      ...(conversation.turns.length > 0 && { history: { version: 1, turns: [...conversation.turns] } }),
    })
    .catch((error: unknown) => {
      throw graphFailure(error, request, exchange);
    });
  const splitter = callsTools ? new CallSplitter(request.format !== undefined) : undefined;
  const told: Record<'reply' | 'thinking', string> = { reply: '', thinking: '' };
  const logprobs = new KeptLogprobs(exchange, request);
  const tell: OnText = (kind, text, tokens) => {
    told[kind] += text;
    logprobs.add(tokens ?? []);
    if (text !== '' || (tokens ?? []).length > 0) onText(kind, text, tokens);
  };
  const complete = await new Promise<Complete>((resolve, reject) => {
    const refused = (error: unknown) => {
      reject(error);
      void session.end();
    };
    const fields = {
      agent_id,
      text: conversation.text,
      variables: { system },
    };
    session
      .call('TurnRequest', fields, (frame) => {
        if (frame.type === 'TurnComplete') return resolve(frame);
        if (frame.type !== 'TurnText') return;
        const text =
          frame.kind === 'reply' && splitter !== undefined ? splitter.push(frame.text) : frame.text;
        const tokens = frame.kind === 'reply' ? scores?.push(frame, text) : undefined;
        try {
          tell(frame.kind, text, tokens);
        } catch (error) {
          refused(error);
        }
      })
      .catch(reject);
  });
  if (complete.status === 'failed') throw errorOf(complete);
  const rest = splitter?.finish();
  tell('reply', rest?.text ?? '', scores?.finish(rest?.text));
  const calls = (rest?.calls ?? []).map((call) => ({
    ...call,
    id: `call_${randomUUID().replaceAll('-', '')}`,
  }));
  return {
    text: splitter === undefined ? complete.text : told.reply,
    thinking: told.thinking,
    calls,
    annotations: (complete.citations ?? []).map(annotation),
    usage: complete.usage ?? { prompt: 0, cached: 0, completion: 0 },
    finish: finishOf(complete, calls.length),
    logprobs: scores && logprobs.tokens,
  };
}

/** Bytes of a token with its log-probability, and of an alternative. */
const scoreHeap = 256;

/** The log-probabilities of a reply until it has been sent. They count as the client's. */
class KeptLogprobs {
  readonly tokens: TokenLogprobs[] = [];
  /** Undefined if none are kept, and once the reply has ended. */
  #memory: Holding | undefined;

  constructor({ client, onEnd }: Exchange, { topLogprobs, keepsLogprobs }: ReplyRequest) {
    if (topLogprobs === undefined || !keepsLogprobs) return;
    const memory = client.account.memory.hold('turns');
    this.#memory = memory;
    onEnd(() => {
      this.#memory = undefined;
      memory.release();
    });
  }

  /** @throws ClientMemoryExceeded, ServerMemoryExceeded */
  add(tokens: readonly TokenLogprobs[]): void {
    if (this.#memory === undefined) return;
    const scores = tokens.reduce((sum, { top_logprobs }) => sum + 1 + top_logprobs.length, 0);
    if (scores > 0) this.#memory.add({ heap: scores * scoreHeap }, 'the log-probabilities are too many');
    for (const token of tokens) this.tokens.push(token);
  }
}

function scoresOf(request: ReplyRequest, graph: Graph): TextLogprobs | undefined {
  const { target, topLogprobs, logprobsField } = request;
  return topLogprobs === undefined
    ? undefined
    : new TextLogprobs(scoredNode(graph, target.name, logprobsField));
}

function errorOf({ error }: Complete): ServerError {
  if (error === undefined) return serverError(1009, 'the turn failed');
  return new ServerError(error.code, error.name, error.message, error.details as ServerError['details']);
}

function finishOf({ finish }: Complete, calls: number): Reply['finish'] {
  if (finish === 'length' || finish === 'context' || finish === 'deadline') return 'length';
  return calls > 0 ? 'tool_calls' : 'stop';
}

function annotation({
  storage,
  id,
  reply_start,
  reply_end,
  metadata,
}: NonNullable<Complete['citations']>[number]): Annotation {
  const { title, path } = (metadata ?? {}) as Record<string, unknown>;
  const named = [title, path].find((value) => typeof value === 'string');
  return {
    start_index: reply_start,
    end_index: reply_end,
    url: `lorekeep://${encodeURIComponent(storage)}/${encodeURIComponent(id)}`,
    title: typeof named === 'string' ? named : id,
  };
}

/** The client's system text, and the tools. It travels as a variable, so that no template reads it. */
function systemOf({ conversation, toolChoice, format }: ReplyRequest, tools: readonly Tool[]): string {
  const isJson = format !== undefined;
  const described = tools.length > 0 ? describeTools(tools, toolChoice.mode, isJson) : '';
  const parts = [conversation.system, described];
  return parts.filter((part) => part !== '').join('\n\n');
}

const systemVariable = '{{variables.system}}';

/** The graph of the target, with the request's params in its `generate` nodes. */
async function graphOf(
  exchange: Exchange,
  targets: Targets,
  request: ReplyRequest,
  { tools, hasSystem }: { tools: readonly Tool[]; hasSystem: boolean },
): Promise<Graph> {
  const { target, params, format, toolChoice, parallelCalls, stream, topLogprobs } = request;
  const callsTools = tools.length > 0;
  const calling = { mode: toolChoice.mode, parallel: parallelCalls && !toolChoice.once, format };
  const constraint = {
    ...(format !== undefined && !callsTools && { json_schema: format.schema }),
    ...(callsTools && { grammar: await toolGrammar(tools, calling, exchange.session.signal) }),
  };
  const isText = Object.keys(constraint).length === 0;
  const isFirst = request.conversation.turns.length === 0 && topLogprobs === undefined;
  const base = baseGraph(target, targets, { isText, isFirst: isText && isFirst });
  const generates = base.nodes.some(({ type }) => type === 'generate');
  if (!generates && Object.keys(constraint).length > 0) {
    const field = callsTools ? 'tools' : (format?.field ?? 'response_format');
    throw new HttpRefusal(
      400,
      'invalid_field',
      `${field}: ${JSON.stringify(target.name)} has no language model that could follow it`,
      field,
    );
  }
  const usual = {
    class: schedulerClass(exchange, stream),
    ...params,
    ...constraint,
    ...(topLogprobs !== undefined && { logprobs: topLogprobs }),
  };
  const nodes = base.nodes.map((node) => {
    if (node.type !== 'generate') return node;
    const { system } = node.params as { system?: string };
    const texts = [system, hasSystem ? systemVariable : undefined].filter((each) => each !== undefined);
    return {
      ...node,
      params: { ...node.params, ...usual, ...(texts.length > 0 && { system: texts.join('\n\n') }) },
    };
  });
  return { ...base, nodes };
}

/** Params that requests set in every graph, besides those of `ReplyRequest.params`. */
const requestParams: ReadonlySet<string> = new Set(['class', 'grammar', 'json_schema', 'logprobs', 'system']);

/** Returns the error of a graph for the client: a mistake in an agent's own graph is none of the request. */
function graphFailure(thrown: unknown, { target, params, format, tools }: ReplyRequest, exchange: Exchange) {
  if (!(thrown instanceof ServerError) || target.kind !== 'agent') return thrown;
  const { path = '' } = thrown.details as { path?: string };
  const param = /^graph\.nodes\[\d+\]\.params\.(\w+)/.exec(path)?.[1] ?? '';
  const isOfRequest =
    requestParams.has(param) || Object.hasOwn(params, param) || thrown.code === contextTooSmall;
  if (!path.startsWith('graph') || faultOf(thrown) !== 'client' || isOfRequest) return thrown;
  const name = JSON.stringify(target.name);
  if (param === 'cite') {
    const field = format?.field ?? (tools.length > 0 ? 'tools' : 'logprobs');
    const message = `${field}: ${name} cites its sources by marks in plain text, which this replaces`;
    return new HttpRefusal(400, 'invalid_field', message, field);
  }
  exchange.client.log.warn({ agent: target.name, err: thrown }, 'the graph of an agent cannot be used');
  const message = `model: the graph of ${name} cannot be used: ${thrown.message}`;
  return new HttpRefusal(500, 'agent_invalid', message, 'model');
}

/**
 * `isText`: the reply has no form, so that it can cite by marks. `isFirst`: it is such a text, and begins a conversation: without a
 * record, there is nothing to reply from.
 */
function baseGraph(
  target: Target,
  targets: Targets,
  { isText, isFirst }: { isText: boolean; isFirst: boolean },
): Graph {
  const id = 'reply';
  switch (target.kind) {
    case 'agent':
      return target.graph;
    case 'model':
      return {
        nodes: [{ id, type: 'generate', params: { model: target.name, history: { turns: 10_000 } } }],
        edges: [],
      };
    case 'storage': {
      const search = { id: 'search', type: 'retrieve', params: { embedded_string_storage: target.name } };
      const reply = targets.hasLanguageModel
        ? {
            id,
            type: 'generate',
            params: {
              ...(isText
                ? { cite: 'marks', system: knowledgeSystem }
                : { system: 'Answer from the context.' }),
              ...(isFirst && whenNothingIsFound),
            },
          }
        : { id, type: 'quote', params: { fallback: nothingRelevant } };
      return { nodes: [search, reply], edges: [] };
    }
  }
}

/** Names of request fields by params of the node. */
const paramFields: Readonly<Record<string, string>> = {
  grammar: 'tools',
  system: 'messages',
  prompt: 'messages',
  context_size: 'messages',
  embedded_string_storage: 'model',
  json_schema: 'response_format',
};

/** Returns the names of fields for a route whose messages are called `messages`. */
export function replyFieldNames(messages: string): FieldNames {
  return (path) => {
    if (path === 'text' || path.startsWith('history')) return messages;
    const param = /^graph\.nodes\[\d+\]\.params\.(\w+)/.exec(path)?.[1];
    if (param === undefined) return undefined;
    const field = paramFields[param] ?? param;
    return field === 'messages' ? messages : field;
  };
}

/** Returns the body of an error that ends a stream, and logs it. */
export function streamError(thrown: unknown, exchange: Exchange, names: FieldNames): { error: object } {
  if (thrown instanceof HttpRefusal) return thrown.body;
  return httpFailure(refusalOf(thrown, exchange.client.log), names).body;
}
