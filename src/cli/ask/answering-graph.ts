import type { Graph, GraphNode, SearchFields } from '../../client/index.js';

/** Name of the storage in the session. */
export const storageName = 'kb';

/** How the graph answers. */
export interface AnswerSettings {
  model?: string | undefined;
  system?: string | undefined;
  cite?: 'none' | 'marks' | undefined;
}

/** A graph that answers with a language model, from the hits of the storage if there is one. */
export function answeringGraph(search: SearchFields | undefined, answer: AnswerSettings): Graph {
  const retrieve: GraphNode = {
    id: 'search',
    type: 'retrieve',
    params: { embeddedStringStorage: storageName, ...search },
  };
  const generate: GraphNode = { id: 'answer', type: 'generate', params: answer };
  return { nodes: search === undefined ? [generate] : [retrieve, generate] };
}
