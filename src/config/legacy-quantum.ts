import { valueAt } from '../base/schema/field-issue.js';
import type { ServerConfig } from './schema.js';

const place = ['engines', 'llm_engine', 'inference', 'scheduler'];
const classes = ['interactive_visible', 'interactive_buffered', 'background'] as const;

/** Applies the legacy chunk size to every class, if the file sets it and has no block of a class. */
export function applyLegacyQuantum(config: ServerConfig, written: object): void {
  const isWritten = (field: string) => valueAt(written, [...place, field]) !== undefined;
  if (!isWritten('prefill_quantum_tokens') || classes.some(isWritten)) return;
  const { scheduler } = config.engines.llm_engine.inference;
  for (const each of classes) scheduler[each].prefill_quantum_tokens = scheduler.prefill_quantum_tokens;
}
