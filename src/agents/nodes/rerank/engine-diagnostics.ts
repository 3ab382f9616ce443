import type { RerankFacts } from '../../../knowledge/rerank.js';
import { milliseconds } from '../../../protocol/milliseconds.js';
import type { RerankDiagnostics } from './schema.js';

/** Returns a function that reports the cost of one reranking; its argument is the node's duration in ms. */
export function engineDiagnostics(
  model: string,
  { documents, tokens, ms }: RerankFacts,
): (duration: number) => RerankDiagnostics {
  return (duration) => ({
    kind: 'rerank',
    model,
    documents,
    tokens,
    rerank_ms: milliseconds(ms),
    other_ms: milliseconds(Math.max(0, duration - ms)),
  });
}
