import { backends } from '../../../../lib/index.js';
import type { KnowledgeModel } from '../../../knowledge/index.js';
import type { EngineDiagnostics } from '../../../protocol/frames.js';
import { milliseconds } from '../../node.js';

/** The compute backend of this process; read once, after a model has been loaded. */
let backend: string | undefined;

/** Returns the cost of embedding one query. Precondition: the model is in memory. */
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
