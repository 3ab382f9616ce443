import { z } from 'zod';
import { boundedArray } from '../../base/schema/bounded.js';
import { kindNames } from '../../models/file-kind.js';
import type { Exchange } from '../http/exchange.js';
import { HttpRefusal } from '../http/failure.js';
import type { Route } from '../http/route.js';
import { optional } from './fields.js';
import type { Targets } from './targets.js';

const maxDocuments = 1000;

const document = z.union([z.string(), z.object({ text: z.string() })], {
  error: 'a text, or {"text": ...}, is expected',
});

export const rerankBody = z.object({
  model: optional(z.string().min(1).max(128)).describe('A reranker of /v1/models. Default: the first one.'),
  query: z.string().min(1).describe('The query.'),
  documents: boundedArray(document, 1, maxDocuments).describe('The texts to be sorted.'),
  top_n: optional(z.int().min(1)).describe('Number of results. Default: all.'),
  return_documents: optional(z.boolean()).describe('Whether the results have their texts.'),
});

const replySchema = z.object({
  model: z.string(),
  results: z.array(
    z.object({
      index: z.int().describe('Position among the documents, from 0.'),
      relevance_score: z.number().describe('Score; comparable for one model only.'),
      document: z.object({ text: z.string() }).optional(),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});

export function rerankRoute(targets: Targets): Route {
  return {
    method: 'POST',
    path: '/v1/rerank',
    right: 'search',
    operation: 'rerank',
    summary: 'Sorts texts by their relevance for a query, as the APIs of Jina and Cohere do.',
    body: rerankBody,
    reply: replySchema,
    serve: (exchange) => rerank(exchange, targets),
  };
}

async function rerank(exchange: Exchange, targets: Targets): Promise<void> {
  const body = await exchange.body(rerankBody);
  const { host, session, client } = exchange;
  const { signal } = session;
  const known = targets.namesOf('reranker');
  const name = body.model ?? known[0];
  if (name === undefined)
    throw new HttpRefusal(
      404,
      'model_not_found',
      'model: this server has no reranker; lorekeep models lists those that can be downloaded',
      'model',
    );
  if (!known.includes(name)) targets.refuse(name, known, kindNames.reranker);
  const texts = body.documents.map((each) => (typeof each === 'string' ? each : each.text));
  const reranker = host.rerankers.find(name);
  const sending = await client.account.send(signal);
  try {
    const ranking = await client.account.compute('search', signal, () =>
      reranker.rank(body.query, texts, { signal }),
    );
    const results = ranking.results.slice(0, body.top_n).map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(body.return_documents && { document: { text: texts[index] } }),
    }));
    const usage = { prompt_tokens: ranking.tokens, total_tokens: ranking.tokens };
    await exchange.sendJson({ model: name, results, usage });
  } finally {
    sending.end();
  }
}
