import { z } from 'zod';
import { anyObject, boundedArray } from '../../base/schema/bounded.js';
import type { ServerFrames } from '../../protocol/frames.js';
import type { Graph } from '../../protocol/graph.js';
import type { Exchange } from '../http/exchange.js';
import type { Route } from '../http/route.js';
import { streamError } from '../openai/reply.js';
import type { Targets } from '../openai/targets.js';
import { checkDeclared } from '../rest/storages.js';

type Complete = ServerFrames['TurnComplete'];

/** An answer, and the records behind it. */
export interface PageAnswer {
  readonly text: string;
  readonly citations: NonNullable<Complete['citations']>;
  readonly sources: NonNullable<Complete['sources']>;
  readonly hits: NonNullable<Complete['hits']>;
  readonly finish?: Complete['finish'];
}

const bodySchema = z.strictObject({
  text: z.string().min(1).max(100_000),
  storages: boundedArray(z.string(), 1, 16),
  /** Who answers: an agent of the config, or a language model. Default: sentences are quoted. */
  by: z.strictObject({ kind: z.enum(['quote', 'agent', 'model']), name: z.string() }).optional(),
  filter: anyObject().optional(),
  /** Earlier turns of the conversation. */
  history: boundedArray(z.strictObject({ text: z.string(), reply: z.string() }), 0, 100).default([]),
});

type Body = z.output<typeof bodySchema>;

const system =
  'Answer the question from the context, in the language of the question. After each fact, write the number of its source, such as [1].';

/** Answers a question by a stream of events: `text` while the answer is made, then `answer`, or `error`. */
export function askRoute(targets: Targets): Route {
  return {
    ...{ method: 'POST', path: '/page/ask', right: 'chat' },
    operation: 'page_ask',
    summary: 'Answers a question from the documents.',
    body: bodySchema,
    serve: async (exchange) => {
      const body = await exchange.body(bodySchema);
      for (const [at, name] of body.storages.entries()) checkDeclared(exchange.host, name, `storages[${at}]`);
      const graph = graphOf(body, targets);
      // A model may take long to load: the page knows by now that it has begun.
      exchange.beginEvents();
      try {
        exchange.sendEvent(await answered(exchange, body, graph), 'answer');
      } catch (thrown) {
        exchange.sendEvent(
          streamError(thrown, exchange, () => undefined),
          'error',
        );
      }
      await exchange.endEvents();
    },
  };
}

async function answered(exchange: Exchange, { text, history }: Body, graph: Graph): Promise<PageAnswer> {
  const { session } = exchange;
  const { agent_id } = await session.call('CreateAgentRequest', {
    graph,
    ...(history.length > 0 && { history: { version: 1, turns: history } }),
  });
  exchange.sendEvent({}, 'begun');
  const complete = await new Promise<Complete>((resolve, reject) => {
    session
      .call('TurnRequest', { agent_id, text, hits: true }, (frame) => {
        if (frame.type === 'TurnComplete') resolve(frame);
        else if (frame.type === 'TurnText')
          exchange.sendEvent({ kind: frame.kind, text: frame.text }, 'text');
      })
      .catch(reject);
  });
  const { error, citations = [], sources = [], hits = [], finish } = complete;
  if (error !== undefined) exchange.refuse(500, 'turn_failed', error.message);
  return { text: complete.text, citations, sources, hits, ...(finish !== undefined && { finish }) };
}

function graphOf({ storages, by, filter }: Body, targets: Targets): Graph {
  if (by?.kind === 'agent') {
    const target = targets.find(by.name);
    if (target.kind === 'agent') return target.graph;
    return targets.refuse(by.name, []);
  }
  const search = storages.map((name, index) => ({
    id: `search${index + 1}`,
    type: 'retrieve',
    params: { embedded_string_storage: name, ...(filter !== undefined && { filter }) },
  }));
  const answer =
    by?.kind === 'model'
      ? { id: 'answer', type: 'generate', params: { model: by.name, cite: 'marks', system } }
      : { id: 'answer', type: 'quote', params: { separator: '\n' } };
  return { nodes: [...search, answer], edges: [] };
}
