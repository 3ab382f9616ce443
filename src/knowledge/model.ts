import { createHash } from 'node:crypto';
import { type EmbeddingModel, type ItemError, LorekeepError, type Records } from '../../lib/index.js';
import type { ModelFusion } from '../fusion/model-fusion.js';

/** An embedding model, and what it wants to see before a text. */
export interface KnowledgeModel {
  readonly model: EmbeddingModel;
  /** Default: nothing. */
  readonly queryPrefix?: string | undefined;
  /** Default: nothing. */
  readonly documentPrefix?: string | undefined;
  /** What hybrid search uses unless it says otherwise; a catalog entry's `fusion`. Default: equal weights. */
  readonly fusion?: ModelFusion | undefined;
}

/** Gives the model that a config file names, or undefined when there is none of that name. It stays the caller's. */
export type ModelResolver = (name: string) => Promise<KnowledgeModel | undefined>;

/** What becomes of a text that the model's context does not hold. */
export type LongText = 'error' | 'truncate';

/**
 * What an index over these records made with this model is to be known by: 16 hexadecimal digits. Where long texts are
 * truncated, how much of them the model saw counts too.
 */
export function indexFingerprint(records: Records, model: KnowledgeModel, longText: LongText): string {
  const { facts } = model.model;
  const made = [records.fingerprint, facts.fingerprint, model.documentPrefix ?? ''];
  if (longText === 'truncate') made.push('truncate', String(facts.contextSize));
  return createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16);
}

/** Names everything that the embedding of a text depends on beside the text; the model's fingerprint has the pooling. */
export function embeddingsKey({ model, documentPrefix = '' }: KnowledgeModel): string {
  const { fingerprint, contextSize } = model.facts;
  return JSON.stringify([fingerprint, contextSize, documentPrefix]);
}

/** How many records an error message lists. */
const listedErrors = 20;

/** The error about records that a model cannot embed. Precondition: there is one. */
export function recordsError(records: Records, file: string, errors: readonly ItemError[]): LorekeepError {
  const sorted = errors.toSorted((a, b) => a.index - b.index);
  const first = sorted[0] as ItemError;
  const lines = sorted
    .slice(0, listedErrors)
    .map(({ index, message }) => `record ${index} (${JSON.stringify(records.idOf(index))}): ${message}`);
  if (errors.length > listedErrors) lines.push(`and ${errors.length - listedErrors} more`);
  const { index, tokens, limit } = first;
  const detail = { file, record: index, id: records.idOf(index), tokens, limit };
  return new LorekeepError(first.code, `${file}: ${lines.join('\n')}`, detail);
}
