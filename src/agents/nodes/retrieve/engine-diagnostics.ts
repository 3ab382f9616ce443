import { backends } from '../../../../lib/index.js';
import type { LoadedModel } from '../../../catalog/loaded-model.js';
import type { EngineDiagnostics } from '../../../protocol/frames.js';
import { milliseconds } from '../../milliseconds.js';

/** What computes embeddings in this process; asked for once, when models are loaded already. */
let backend: string | undefined;

/** What the embedding of one query took. */
export function engineDiagnostics(
  { name, facts }: LoadedModel,
  { tokens, batches }: { tokens: number; batches: number },
  embedMs: number,
): EngineDiagnostics {
  backend ??= backends()
    .map((found) => `${found.name} (${found.description})`)
    .join(', ');
  const { fingerprint, dimension, contextSize } = facts;
  return {
    model: name,
    fingerprint,
    backend,
    dimension,
    context_size: contextSize,
    tokens,
    batches,
    embed_ms: milliseconds(embedMs),
  };
}
