import { createHash } from 'node:crypto';
import {
  EmbeddingModel,
  type EmbedResult,
  type ItemError,
  LorekeepError,
  type ModelFacts,
  type Records,
} from '../../lib/index.js';
import type { ModelFusion } from '../fusion/model-fusion.js';
import { listed } from '../schema/messages.js';

/** An embedding model with its prefixes and fusion weights. */
export interface KnowledgeModel {
  /** Catalog name, for diagnostics. */
  readonly name?: string;
  readonly model: EmbeddingModel;
  /** Facts that are known even while the model is unloaded. Default: those of `model`. */
  readonly facts?: ModelFacts;
  /** Default: nothing. */
  readonly queryPrefix?: string | undefined;
  /** Default: nothing. */
  readonly documentPrefix?: string | undefined;
  /** Default fusion of hybrid search: the catalog entry's `fusion`. Default: equal weights. */
  readonly fusion?: ModelFusion | undefined;
  /** Keeps the model from being unloaded for idleness until the result is called. Default: it is always in memory. */
  hold?(): () => void;
  /** Keeps the model in memory for a computation until the result is called. Default: as hold(). */
  use?(): () => void;
  /** Loads the model again if it was unloaded. Default: it is always in memory. */
  inMemory?(): Promise<EmbeddingModel>;
}

/** Runs work while the model is in memory. */
export async function withModel<T>(
  model: KnowledgeModel,
  work: (model: EmbeddingModel) => Promise<T>,
): Promise<T> {
  const letGo = model.use?.() ?? model.hold?.();
  try {
    return await work((await model.inMemory?.()) ?? model.model);
  } finally {
    letGo?.();
  }
}

/** Returns the model of a name, or undefined for an unknown name. The caller remains its owner. */
export type ModelResolver = (name: string) => Promise<KnowledgeModel | undefined>;

/** Models by name: a function, or an object with such a function, such as CatalogModels. */
export type ModelSource = ModelResolver | NamedModels;

export interface NamedModels {
  resolve: ModelResolver;
  /** The arguments with which `lorekeep build` finds the same models; shown in errors. */
  readonly buildFlags?: string | undefined;
}

/** @throws INVALID_ARGUMENT if it is neither; the resolver throws it for a value that is not a model */
export function modelResolver(models: ModelSource): ModelResolver {
  if (typeof models === 'function') return async (name) => checked(await models(name), name);
  if (typeof models?.resolve === 'function') return async (name) => checked(await models.resolve(name), name);
  throw LorekeepError.about('INVALID_ARGUMENT', {
    field: 'models',
    reason: 'CatalogModels, or a function that gives a model for a name, is expected',
  });
}

function checked(found: KnowledgeModel | undefined, name: string): KnowledgeModel | undefined {
  if (found === undefined) return undefined;
  const refuse = (what: string) => {
    const reason = `what it gives for ${JSON.stringify(name)}: ${what} is expected`;
    return LorekeepError.about('INVALID_ARGUMENT', { field: 'models', reason });
  };
  if (!(found?.model instanceof EmbeddingModel))
    throw refuse('{ model } with an EmbeddingModel, or undefined,');
  for (const prefix of ['queryPrefix', 'documentPrefix'] as const) {
    if (typeof (found[prefix] ?? '') !== 'string') throw refuse(`a string as ${prefix}`);
  }
  return found;
}

/** How to treat a text that is too long for the model's context. */
export type LongText = 'error' | 'truncate';

/**
 * Identifies an index over these records with this model: 16 hexadecimal digits. If long texts are truncated, it includes the
 * length that the model sees.
 */
export function indexFingerprint(records: Records, model: KnowledgeModel, longText: LongText): string {
  const { facts } = model.model;
  const made = [records.fingerprint, facts.fingerprint, model.documentPrefix ?? ''];
  if (longText === 'truncate') made.push('truncate', String(facts.contextSize));
  return createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16);
}

/** Identifies everything besides the text that an embedding depends on; the model's fingerprint includes the pooling. */
export function embeddingsKey({ model, documentPrefix = '' }: KnowledgeModel): string {
  const { fingerprint, contextSize } = model.facts;
  return JSON.stringify([fingerprint, contextSize, documentPrefix]);
}

/** Returns the error for records that a model cannot embed. Precondition: there is at least one. */
export function recordsError(records: Records, file: string, errors: readonly ItemError[]): LorekeepError {
  const sorted = errors.toSorted((a, b) => a.index - b.index);
  const first = sorted[0] as ItemError;
  const lines = listed(
    sorted,
    ({ index, message }) => `record ${index} (${JSON.stringify(records.idOf(index))}): ${message}`,
  );
  const { index, tokens, limit } = first;
  const detail = { file, record: index, id: records.idOf(index), tokens, limit };
  return new LorekeepError(first.code, `${file}: ${lines.join('\n')}`, detail);
}

/**
 * Embeds a query with the model's query prefix.
 * @throws TEXT_TOO_LONG, MODEL_INVALID; INVALID_ARGUMENT for a text without tokens; all with `detail.field` "text"
 */
export function embedQuery(
  model: KnowledgeModel,
  text: string,
  signal: AbortSignal | undefined,
): Promise<EmbedResult> {
  return withModel(model, async (native) => {
    // A prefix alone has an embedding, but a meaningless one.
    if (text.trim() === '') throw textError({ ...emptyText, limit: native.facts.contextSize });
    const result = await native.embedSettled([(model.queryPrefix ?? '') + text], { signal });
    if (result.errors[0] !== undefined) throw textError(result.errors[0]);
    return result;
  });
}

const emptyText = { code: 'INVALID_ARGUMENT', message: 'the text is empty', tokens: 0 } as const;

function textError({ code, message: reason, tokens, limit }: Omit<ItemError, 'index'>): LorekeepError {
  return LorekeepError.about(code, { field: 'text', reason, tokens, limit });
}

/** Whether an error means that the model sees no token in the query. The lexical leg may still find something. */
export function isUnseenText(error: unknown): boolean {
  return error instanceof LorekeepError && error.code === 'INVALID_ARGUMENT' && error.detail.field === 'text';
}
