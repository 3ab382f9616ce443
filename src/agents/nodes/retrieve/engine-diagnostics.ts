import { backends } from '../../../../lib/internal.js';
import type { KnowledgeModel } from '../../../knowledge/index.js';
import { factsOf } from '../../../knowledge/model.js';
import { milliseconds } from '../../../protocol/milliseconds.js';
import type { WireOutcome } from '../../../storages/wire.js';
import type { RetrievalDiagnostics } from './schema.js';

/** The compute backend of this process; read once, after a model has been loaded. */
let backend: string | undefined;

/** Returns a function that reports the cost of one search; its argument is the node's duration in ms. It keeps no hits in memory. */
export function engineDiagnostics(
  source: KnowledgeModel,
  { plan, times, embedding, embedMs, searchMs }: WireOutcome,
): (duration: number) => RetrievalDiagnostics {
  const { name: model = '' } = source;
  const facts = factsOf(source);
  return (duration) => ({
    kind: 'retrieval',
    mode: plan.mode,
    model,
    fingerprint: facts.fingerprint,
    ...(embedding && { backend: backendNames() }),
    dimension: facts.dimension,
    context_size: facts.contextSize,
    tokens: embedding?.tokens ?? 0,
    batches: embedding?.batches ?? 0,
    embed_ms: milliseconds(embedMs),
    search_ms: milliseconds(searchMs),
    filter_ms: milliseconds(times.filter),
    dense_ms: milliseconds(times.dense),
    lexical_ms: milliseconds(times.lexical),
    fusion_ms: milliseconds(times.fusion),
    other_ms: milliseconds(Math.max(0, duration - embedMs - searchMs)),
  });
}

function backendNames(): string {
  backend ??= backends()
    .map((found) => `${found.name} (${found.description})`)
    .join(', ');
  return backend;
}
