import type { Graph, GraphNode, SearchFields } from '../../client/index.js';

/** Name of the n-th storage in the session, from 0. */
export const storageName = (index: number): string => (index === 0 ? 'kb' : `kb${index + 1}`);

/** How the graph answers. */
export interface AnswerSettings {
  model?: string | undefined;
  system?: string | undefined;
  cite?: 'none' | 'marks' | undefined;
  /** What is said if no record is found. */
  onNoKnowledge?: 'fallback';
  fallback?: string;
  minRelevance?: number;
}

/** A graph that answers with a language model, from the hits of the storages if there are any. */
export function answeringGraph(
  storages: number,
  search: Partial<SearchFields>,
  answer: AnswerSettings,
): Graph {
  const generate: GraphNode = { id: 'answer', type: 'generate', params: answer };
  return { nodes: [...searchNodes(storages, search), generate] };
}

/** A graph that answers with the sentences of the hits, without a language model. */
export function quotingGraph(storages: number, search: Partial<SearchFields>): Graph {
  const quote: GraphNode = { id: 'answer', type: 'quote', params: { separator: '\n' } };
  return { nodes: [...searchNodes(storages, search), quote] };
}

function searchNodes(storages: number, search: Partial<SearchFields>): GraphNode[] {
  return Array.from({ length: storages }, (_, index) => ({
    id: index === 0 ? 'search' : `search${index + 1}`,
    type: 'retrieve',
    params: { embeddedStringStorage: storageName(index), ...search },
  }));
}
