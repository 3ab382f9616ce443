import { Document } from '@langchain/core/documents';
import type { Server } from './server.js';

/** Predicate over the fields of the metadata: docs/reference/filters.md. */
export type Filter = Record<string, unknown>;

/** Options of every search: the fields of a search of the server, such as `mode`, `rerank` or `min_relevance`. */
export interface SearchFields {
  /** Name of the storage. */
  storage: string;
  /** Most documents. Default 4. */
  k?: number;
  filter?: Filter;
  /** Further fields of the search: docs/reference/protocol.md, SearchEmbeddedStringStorageRequest. */
  search?: Record<string, unknown>;
}

interface Hit {
  id: string;
  text: string;
  score: number;
  relevance?: number;
  metadata?: Record<string, unknown>;
}

/** Searches a storage. Scores are estimated probabilities where the storage has them. */
export async function search(
  server: Server,
  { storage, k = 4, filter, search: more }: SearchFields,
  text: string,
  signal?: AbortSignal,
): Promise<[Document, number][]> {
  if (text === '') return [];
  const body = { ...more, name: storage, text, top_k: k, ...(filter !== undefined && { filter }) };
  const { hits } = await server.post<{ hits: Hit[] }>('/v1/search', body, signal);
  return hits.map(({ id, text, score, relevance, metadata = {} }) => [
    new Document({ id, pageContent: text, metadata }),
    relevance ?? score,
  ]);
}
