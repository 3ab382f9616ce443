import { randomUUID } from 'node:crypto';
import { ServerError, serverError } from '../../protocol/errors.js';
import type { ServerFrames } from '../../protocol/frames.js';
import type { Graph } from '../../protocol/graph.js';
import { refusalOf } from '../../storages/failure.js';
import type { Exchange } from '../http/exchange.js';
import { type FieldNames, HttpRefusal, httpFailure } from '../http/failure.js';
import type { Conversation } from './conversation.js';
import type { Tool, ToolChoice } from './fields.js';
import type { Target, Targets } from './targets.js';
import { CallSplitter, describeTools, type ToolCall, toolGrammar } from './tools.js';

type Complete = ServerFrames['TurnComplete'];

/** A wanted reply, whichever route asks for it. */
export interface ReplyRequest {
  readonly target: Target;
  readonly conversation: Conversation;
  /** Params of `generate` nodes: sampling, max_tokens, stop. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly jsonSchema: object | undefined;
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelCalls: boolean;
  readonly stream: boolean;
}

/** A finished reply. */
export interface Reply {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly (ToolCall & { readonly id: string })[];
  readonly annotations: readonly Annotation[];
  readonly usage: { readonly prompt: number; readonly cached: number; readonly completion: number };
  readonly finish: 'stop' | 'length' | 'tool_calls';
}

/** A citation, as an annotation of the text. */
export interface Annotation {
  readonly start_index: number;
  readonly end_index: number;
  readonly url: string;
  readonly title: string;
}

const classes = ['interactive_visible', 'interactive_buffered', 'background'];

/** Text that a knowledge base as `model` gives its language model. */
const knowledgeSystem =
  'Answer from the context. After each fact, write the number of its source, such as [1].';

/** Returns the scheduler's class: of the header, else by whether text is shown while it is made. @throws HttpRefusal */
function schedulerClass(exchange: Exchange, stream: boolean): string {
  const given = exchange.header('x-lorekeep-class');
  if (given === undefined) return stream ? 'interactive_visible' : 'interactive_buffered';
  if (classes.includes(given)) return given;
  throw new HttpRefusal(
    400,
    'invalid_field',
    `X-Lorekeep-Class: one of ${classes.join(', ')} is expected`,
    'X-Lorekeep-Class',
  );
}

/** Makes a reply: one turn of an agent that lives as long. `onText` takes its pieces. @throws HttpRefusal, ServerError */
export async function makeReply(
  exchange: Exchange,
  targets: Targets,
  request: ReplyRequest,
  onText: (kind: 'reply' | 'thinking', text: string) => void,
): Promise<Reply> {
  const { conversation, tools, toolChoice } = request;
  const callsTools = tools.length > 0 && toolChoice.mode !== 'none';
  if (callsTools && request.jsonSchema !== undefined)
    throw new HttpRefusal(
      400,
      'invalid_field',
      'tools: cannot be combined with a JSON response_format',
      'tools',
    );
  const graph = graphOf(exchange, targets, request, callsTools);
  const { session } = exchange;
  const { agent_id } = await session.call('CreateAgentRequest', {
    graph,
    ...(conversation.turns.length > 0 && { history: { version: 1, turns: [...conversation.turns] } }),
  });
  const splitter = callsTools ? new CallSplitter() : undefined;
  const told: Record<'reply' | 'thinking', string> = { reply: '', thinking: '' };
  const complete = await new Promise<Complete>((resolve, reject) => {
    const fields = {
      agent_id,
      text: conversation.text,
      variables: { system: systemOf(request, callsTools) },
    };
    session
      .call('TurnRequest', fields, (frame) => {
        if (frame.type === 'TurnComplete') return resolve(frame);
        if (frame.type !== 'TurnText') return;
        const text =
          frame.kind === 'reply' && splitter !== undefined ? splitter.push(frame.text) : frame.text;
        told[frame.kind] += text;
        if (text !== '') onText(frame.kind, text);
      })
      .catch(reject);
  });
  if (complete.status === 'failed') throw errorOf(complete);
  const calls = (splitter?.finish() ?? []).map((call) => ({
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
  };
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
function systemOf({ conversation, tools, toolChoice }: ReplyRequest, callsTools: boolean): string {
  const parts = [conversation.system, callsTools ? describeTools(tools, toolChoice) : ''];
  return parts.filter((part) => part !== '').join('\n\n');
}

const systemVariable = '{{variables.system}}';

/** The graph of the target, with the request's params in its `generate` nodes. */
function graphOf(exchange: Exchange, targets: Targets, request: ReplyRequest, callsTools: boolean): Graph {
  const { target, params, jsonSchema, tools, toolChoice, parallelCalls, stream } = request;
  const constraint = {
    ...(jsonSchema !== undefined && { json_schema: jsonSchema }),
    ...(callsTools && { grammar: toolGrammar(tools, toolChoice, parallelCalls) }),
  };
  const base = baseGraph(target, targets);
  const generates = base.nodes.some(({ type }) => type === 'generate');
  if (!generates && Object.keys(constraint).length > 0) {
    const field = callsTools ? 'tools' : 'response_format';
    throw new HttpRefusal(
      400,
      'invalid_field',
      `${field}: ${JSON.stringify(target.name)} has no language model that could follow it`,
      field,
    );
  }
  const usual = { class: schedulerClass(exchange, stream), ...params, ...constraint };
  const hasSystem = systemOf(request, callsTools) !== '';
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

function baseGraph(target: Target, targets: Targets): Graph {
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
        ? { id, type: 'generate', params: { cite: 'marks', system: knowledgeSystem } }
        : { id, type: 'quote', params: {} };
      return { nodes: [search, reply], edges: [] };
    }
  }
}

/** Names of request fields by params of the node. */
const paramFields: Readonly<Record<string, string>> = {
  grammar: 'tools',
  system: 'messages',
  prompt: 'messages',
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
