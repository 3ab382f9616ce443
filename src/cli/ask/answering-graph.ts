import type { FilterExpression, LexicalOptions } from '../../../lib/index.js';
import type { Graph, GraphNode } from '../../client/index.js';

/** Name of the storage in the session. */
export const storageName = 'kb';

/** How the graph searches. */
export interface SearchSettings {
  mode: 'dense' | 'lexical' | 'hybrid';
  topK: number;
  threshold?: number | undefined;
  fusion?: 'rrf' | 'scores' | undefined;
  minScore?: number | undefined;
  lexical?: LexicalOptions | undefined;
  filter?: FilterExpression | undefined;
  offset?: number | undefined;
  groupBy?: string | undefined;
  dropDuplicates?: number | undefined;
  context?: number | undefined;
  rerank?: { model?: string } | undefined;
}

/** How the graph answers. */
export interface AnswerSettings {
  model?: string | undefined;
  system?: string | undefined;
  cite?: 'none' | 'marks' | undefined;
}

/** A graph that answers with a language model, from the hits of the storage if there is one. */
export function answeringGraph(search: SearchSettings | undefined, answer: AnswerSettings): Graph {
  const retrieve: GraphNode = {
    id: 'search',
    type: 'retrieve',
    params: { embeddedStringStorage: storageName, ...search },
  };
  const generate: GraphNode = { id: 'answer', type: 'generate', params: answer };
  return { nodes: search === undefined ? [generate] : [retrieve, generate] };
}
