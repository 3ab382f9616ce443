import { createHash } from 'node:crypto';
import {
  type EmbeddingModel,
  type ItemError,
  LorekeepError,
  type ProgressOptions,
  type Records,
} from '../../lib/index.js';
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

/** What an index over these records made with this model is to be known by: 16 hexadecimal digits. */
export function indexFingerprint(records: Records, { model, documentPrefix = '' }: KnowledgeModel): string {
  const made = JSON.stringify([records.fingerprint, model.facts.fingerprint, documentPrefix]);
  return createHash('sha256').update(made).digest('hex').slice(0, 16);
}

/** How many records an error message lists. */
const listedErrors = 20;

/** One row per record. @throws the first text's code, naming every record that the model cannot embed. */
export async function embedAll(
  records: Records,
  { model, documentPrefix = '' }: KnowledgeModel,
  recordsFile: string,
  options: ProgressOptions,
): Promise<Float32Array> {
  const { vectors, errors } = await model.embedRecords(records, { prefix: documentPrefix, ...options });
  if (errors[0] === undefined) return vectors;
  throw recordsError(records, recordsFile, errors, errors[0]);
}

function recordsError(records: Records, file: string, errors: readonly ItemError[], first: ItemError) {
  const lines = errors
    .slice(0, listedErrors)
    .map(({ index, message }) => `record ${index} (${JSON.stringify(records.idOf(index))}): ${message}`);
  if (errors.length > listedErrors) lines.push(`and ${errors.length - listedErrors} more`);
  const { index, tokens, limit } = first;
  return new LorekeepError(first.code, `${file}: ${lines.join('\n')}`, {
    file,
    record: index,
    id: records.idOf(index),
    tokens,
    limit,
  });
}
