import { createHash } from 'node:crypto';
import {
  EmbeddingModel,
  type EmbedResult,
  type ItemError,
  LorekeepError,
  type Records,
} from '../../lib/internal.js';
import { listed } from '../base/schema/messages.js';
import type { MultilingualModel, StoredDimension } from '../models/catalog-models.js';
import type { Lease } from '../models/lease.js';
import type { ModelFusion } from '../search/model-fusion.js';
import { type Embedder, isEmbedder, NoEmbedder, OwnEmbedder, type TextEmbedder } from './embedder.js';

/** How a knowledge base uses a model. */
interface ModelUse {
  /** Catalog name, for diagnostics. */
  readonly name?: string;
  /** Default: nothing. */
  readonly queryPrefix?: string | undefined;
  /** Default: nothing. */
  readonly documentPrefix?: string | undefined;
  /** Default fusion of hybrid search: the catalog entry's `fusion`. Default: equal weights. */
  readonly fusion?: ModelFusion | undefined;
}

/** A model that is always in memory. */
export interface PlainModel extends ModelUse {
  readonly model: TextEmbedder;
}

/** A model that may leave memory, such as a CatalogModels model: a lease brings it back. */
export interface LeasableModel extends ModelUse {
  readonly facts: TextEmbedder['facts'];
  /** Whether its server has not answered yet. */
  readonly isUnasked?: boolean | undefined;
  /** Keeps the model from being unloaded for idleness until the result is called. */
  hold(): () => void;
  /** Loads the model if it is not in memory, and keeps it there. */
  lease(signal?: AbortSignal): Promise<Lease<TextEmbedder>>;
}

/** An embedding model with its prefixes and fusion weights. */
export type KnowledgeModel = PlainModel | LeasableModel;

/** Facts of a model, in memory or not. */
export function factsOf(given: KnowledgeModel): TextEmbedder['facts'] {
  return 'lease' in given ? given.facts : given.model.facts;
}

/** Whether texts can be embedded with it. */
export function embedsTexts(given: KnowledgeModel): boolean {
  return 'lease' in given || !(given.model instanceof NoEmbedder);
}

/** Keeps a model from being unloaded for idleness until the result is called. */
export function holdModel(given: KnowledgeModel): () => void {
  return 'lease' in given ? given.hold() : () => {};
}

/**
 * Runs work with the model in memory; again if the model had to leave its GPU meanwhile, then on the CPU. What the work has
 * done stays done.
 */
export async function withModel<T>(
  given: KnowledgeModel,
  work: (model: TextEmbedder) => Promise<T>,
  signal?: AbortSignal | undefined,
): Promise<T> {
  if (!('lease' in given)) return work(given.model);
  for (;;) {
    using lease = await given.lease(signal);
    try {
      return await work(lease.model);
    } catch (error) {
      if (!(error instanceof LorekeepError) || error.code !== 'DEVICE_LOST' || !error.detail.released)
        throw error;
    }
  }
}

/**
 * Returns the model of a name, or undefined for an unknown name. The caller remains its owner. `storedDimension`: of vectors for
 * which a remote model may be returned while its server does not answer.
 */
export type ModelResolver = (
  name: string,
  storedDimension?: StoredDimension,
) => Promise<KnowledgeModel | undefined>;

/** A caller's resolver: it may also return a model without prefixes, or an embedder of its own. */
export type GivenModelResolver = (
  name: string,
  storedDimension?: StoredDimension,
) => Promise<GivenModel | undefined>;

export type GivenModel =
  | KnowledgeModel
  | EmbeddingModel
  | Embedder
  | (Omit<PlainModel, 'model'> & { model: Embedder });

/** @throws INVALID_ARGUMENT for a value that is not a model */
export function knowledgeModel(given: GivenModel): KnowledgeModel {
  if (given instanceof EmbeddingModel) return { model: given };
  if (isEmbedder(given)) return { model: new OwnEmbedder(given) };
  const { model, lease } = (given ?? {}) as Partial<PlainModel & LeasableModel>;
  if (isEmbedder(model)) return { ...given, model: new OwnEmbedder(model) };
  if (typeof (lease ?? model?.embedSettled) === 'function') return given as KnowledgeModel;
  const reason = 'an EmbeddingModel, or { embed, dimension, fingerprint }, is expected';
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'model', reason });
}

/** Models by name: a function, or an object with such a function, such as CatalogModels. */
export type ModelSource = GivenModelResolver | NamedModels | Embedder;

export interface NamedModels {
  resolve: GivenModelResolver;
  /** The model for texts in many languages; undefined if there is none. */
  multilingual?(): MultilingualModel | undefined;
  /** The arguments with which `lorekeep build` finds the same models; shown in errors. */
  readonly buildFlags?: string | undefined;
}

/** @throws INVALID_ARGUMENT if it is neither; the resolver throws it for a value that is not a model */
export function modelResolver(models: ModelSource): ModelResolver {
  if (isEmbedder(models)) {
    const model = knowledgeModel(models);
    return async () => model;
  }
  if (typeof models === 'function') return async (name, stored) => checked(await models(name, stored), name);
  if (typeof models?.resolve === 'function')
    return async (name, stored) => checked(await models.resolve(name, stored), name);
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
  const { model, lease } = (given ?? {}) as Partial<PlainModel & LeasableModel>;
  const isModel = given instanceof EmbeddingModel || isEmbedder(given) || isEmbedder(model);
  if (!isModel && typeof (lease ?? model?.embedSettled) !== 'function')
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
  const facts = { file, record: index, id: records.idOf(index), tokens, limit, mistakes: errors.length };
  return LorekeepError.about(first.code, { ...facts, reason: lines.join('\n') });
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
  const embed = async (native: TextEmbedder) => {
    // A prefix alone has an embedding, but a meaningless one.
    if (text.trim() === '') throw textError({ ...emptyText, limit: native.facts.contextSize });
    const texts = [(model.queryPrefix ?? '') + text];
    const result = await native.embedSettled(texts, { signal, kind: 'query' });
    if (result.errors[0] !== undefined) throw textError(result.errors[0]);
    return result;
  };
  return withModel(model, embed, signal);
}

/** The error of a text without characters. */
export const emptyText = { code: 'INVALID_ARGUMENT', message: 'the text is empty', tokens: 0 } as const;

/** Blames the text of a search. */
export function textError({ code, message: reason, tokens, limit }: Omit<ItemError, 'index'>): LorekeepError {
  return LorekeepError.about(code, { field: 'text', reason, tokens, limit });
}

/** Whether an error means that the model sees no token in the query. The lexical leg may still find something. */
export function isUnseenText(error: unknown): boolean {
  return error instanceof LorekeepError && error.code === 'INVALID_ARGUMENT' && error.detail.field === 'text';
}
