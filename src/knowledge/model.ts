import { createHash } from 'node:crypto';
import {
  EmbeddingModel,
  type EmbedResult,
  type ItemError,
  LorekeepError,
  type Records,
} from '../../lib/internal.js';
import { listed } from '../base/schema/messages.js';
import type { ModelFusion } from '../search/model-fusion.js';
import { type Embedder, isEmbedder, NoEmbedder, OwnEmbedder, type TextEmbedder } from './embedder.js';

/** An embedding model with its prefixes and fusion weights. */
export interface KnowledgeModel {
  /** Catalog name, for diagnostics. */
  readonly name?: string;
  readonly model: TextEmbedder;
  /** Facts that are known even while the model is unloaded. Default: from `model`. */
  readonly facts?: TextEmbedder['facts'];
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
  inMemory?(): Promise<TextEmbedder>;
}

/** Facts of a model, also while it is unloaded: only withModel() may use `model` itself. */
export function factsOf(given: KnowledgeModel): TextEmbedder['facts'] {
  return given.facts ?? given.model.facts;
}

/** Whether texts can be embedded with it. A model that may be unloaded is one. */
export function embedsTexts(given: KnowledgeModel): boolean {
  return given.inMemory !== undefined || !(given.model instanceof NoEmbedder);
}

/** Runs work while the model is in memory. */
export async function withModel<T>(
  model: KnowledgeModel,
  work: (model: TextEmbedder) => Promise<T>,
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

/** A caller's resolver: it may also return a model without prefixes, or an embedder of its own. */
export type GivenModelResolver = (name: string) => Promise<GivenModel | undefined>;

export type GivenModel =
  | KnowledgeModel
  | EmbeddingModel
  | Embedder
  | (Omit<KnowledgeModel, 'model'> & { model: Embedder });

/** @throws INVALID_ARGUMENT for a value that is not a model */
export function knowledgeModel(given: GivenModel): KnowledgeModel {
  if (given instanceof EmbeddingModel) return { model: given };
  if (isEmbedder(given)) return { model: new OwnEmbedder(given) };
  const { model } = (given ?? {}) as Partial<KnowledgeModel>;
  if (isEmbedder(model)) return { ...given, model: new OwnEmbedder(model) };
  if (typeof model?.embedSettled === 'function') return given as KnowledgeModel;
  const reason = 'an EmbeddingModel, or { embed, dimension, fingerprint }, is expected';
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'model', reason });
}

/** Models by name: a function, or an object with such a function, such as CatalogModels. */
export type ModelSource = GivenModelResolver | NamedModels | Embedder;

export interface NamedModels {
  resolve: GivenModelResolver;
  /** The arguments with which `lorekeep build` finds the same models; shown in errors. */
  readonly buildFlags?: string | undefined;
}

/** @throws INVALID_ARGUMENT if it is neither; the resolver throws it for a value that is not a model */
export function modelResolver(models: ModelSource): ModelResolver {
  if (isEmbedder(models)) {
    const model = knowledgeModel(models);
    return async () => model;
  }
  if (typeof models === 'function') return async (name) => checked(await models(name), name);
  if (typeof models?.resolve === 'function') return async (name) => checked(await models.resolve(name), name);
  throw LorekeepError.about('INVALID_ARGUMENT', {
    field: 'models',
    reason: 'CatalogModels, or a function that gives a model for a name, is expected',
  });
}

function checked(given: GivenModel | undefined, name: string): KnowledgeModel | undefined {
  if (given === undefined) return undefined;
  const refuse = (what: string) => {
    const reason = `its model for ${JSON.stringify(name)}: ${what} is expected`;
    return LorekeepError.about('INVALID_ARGUMENT', { field: 'models', reason });
  };
  const { model } = (given ?? {}) as Partial<KnowledgeModel>;
  const isModel = given instanceof EmbeddingModel || isEmbedder(given) || isEmbedder(model);
  if (!isModel && typeof model?.embedSettled !== 'function')
    throw refuse('{ model } with an EmbeddingModel, an embedder, or undefined,');
  const found = knowledgeModel(given);
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
  const facts = factsOf(model);
  const made = [records.fingerprint, facts.fingerprint, model.documentPrefix ?? ''];
  if (longText === 'truncate') made.push('truncate', String(facts.contextSize));
  return createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16);
}

/** Identifies everything besides the text that an embedding depends on; the model's fingerprint includes the pooling. */
export function embeddingsKey(model: KnowledgeModel): string {
  const { fingerprint, contextSize } = factsOf(model);
  return JSON.stringify([fingerprint, contextSize, model.documentPrefix ?? '']);
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
  const detail = { file, record: index, id: records.idOf(index), tokens, limit, mistakes: errors.length };
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
    const result = await native.embedSettled([(model.queryPrefix ?? '') + text], {
      signal,
      kind: 'query',
    });
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
