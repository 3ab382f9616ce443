import { backends } from '../../../../lib/index.js';
import type { KnowledgeModel } from '../../../knowledge/index.js';
import type { EngineDiagnostics } from '../../../protocol/frames.js';
import { milliseconds } from '../../node.js';

/** What computes embeddings in this process; asked for once, when models are loaded already. */
let backend: string | undefined;

/** What the embedding of one query took. The model must be in memory. */
export function engineDiagnostics(
  { name, model }: KnowledgeModel,
  { tokens, batches }: { tokens: number; batches: number },
  embedMs: number,
): EngineDiagnostics {
  backend ??= backends()
    .map((found) => `${found.name} (${found.description})`)
    .join(', ');
  const { fingerprint, dimension, contextSize } = model.facts;
  return {
    model: name ?? '',
    fingerprint,
    backend,
    dimension,
    context_size: contextSize,
    tokens,
    batches,
    embed_ms: milliseconds(embedMs),
  };
}
