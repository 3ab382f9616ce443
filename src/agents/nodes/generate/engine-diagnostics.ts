import type { LanguageModelPin } from '../../../models/language-models.js';
import type { GenerationResult, TextModel } from '../../../models/text-model.js';
import type { Dropped } from '../../../protocol/engine.js';
import { milliseconds } from '../../../protocol/milliseconds.js';
import type { GenerateParams, GenerationDiagnostics } from './schema.js';

/** Returns a function that gives the cost of one generation, in parts that add up to the `duration` of the node's run. It holds no text. */
export function engineDiagnostics(
  { name, contextSize }: Pick<LanguageModelPin, 'name' | 'contextSize'>,
  { fingerprint, device, runtime }: TextModel['facts'],
  consumer: GenerateParams['class'],
  { finish, usage, drafts, timing, seed }: GenerationResult,
  { prepareMs, dropped }: { prepareMs: number; dropped: Dropped },
): (duration: number) => GenerationDiagnostics {
  const {
    queuedMs,
    prefillMs,
    prefillChunks,
    decodeMs,
    longestGapMs,
    pausedMs,
    constraintWaits,
    constraintMs,
  } = timing;
  return (duration) => ({
    kind: 'generation',
    model: name,
    fingerprint,
    device,
    runtime,
    class: consumer,
    context_size: contextSize,
    prepare_ms: milliseconds(prepareMs),
    queue_ms: milliseconds(queuedMs),
    prefill_ms: milliseconds(prefillMs),
    prefill_tokens: usage.computed,
    reused_tokens: usage.cached,
    prefill_chunks: prefillChunks,
    decode_ms: milliseconds(decodeMs),
    decode_tokens: usage.completion,
    drafted_tokens: drafts.drafted,
    accepted_tokens: drafts.accepted,
    longest_gap_ms: milliseconds(longestGapMs),
    paused_ms: milliseconds(pausedMs),
    constraint_waits: constraintWaits,
    constraint_ms: milliseconds(constraintMs),
    other_ms: milliseconds(Math.max(0, duration - prepareMs - queuedMs - prefillMs - decodeMs)),
    dropped,
    finish,
    seed,
  });
}
