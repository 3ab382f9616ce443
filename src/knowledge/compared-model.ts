import { LorekeepError, type Storage } from '../../lib/internal.js';
import { soonMs } from '../models/catalog-models.js';
import type { Lease } from '../models/lease.js';
import { ModelLoadError } from '../models/model-load-error.js';
import { RemoteModelError } from '../models/remote/remote-model-error.js';
import type { TextEmbedder } from './embedder.js';
import { factsOf, type KnowledgeModel, type LeasableModel } from './model.js';
import { requireSameModel } from './same-model.js';

interface Comparison {
  /** Records that are compared, if the storage has them. */
  readonly ids: readonly string[];
  /** The file that has the vectors. */
  readonly file: string;
}

/**
 * The model of a knowledge base that another server computes. Its texts are embedded only once the base's vectors have been
 * compared with new ones, which waits for the server: the base is searched for words meanwhile.
 */
export class ComparedModel implements LeasableModel {
  readonly name: string;
  readonly queryPrefix: string | undefined;
  readonly documentPrefix: string | undefined;
  readonly fusion: LeasableModel['fusion'];
  readonly facts: TextEmbedder['facts'];
  readonly #given: LeasableModel;
  #storage: Storage | undefined;
  /** What is still to be done. */
  #due: Comparison | undefined;

  private constructor(given: LeasableModel) {
    this.name = given.name ?? '';
    this.queryPrefix = given.queryPrefix;
    this.documentPrefix = given.documentPrefix;
    this.fusion = given.fusion;
    this.facts = given.facts;
    this.#given = given;
  }

  /** Returns a model as it is unless another server computes it. */
  static of(given: KnowledgeModel): KnowledgeModel {
    const isRemote = 'lease' in given && factsOf(given).architecture === 'remote';
    return isRemote ? new ComparedModel(given) : given;
  }

  hold(): () => void {
    return this.#given.hold();
  }

  /** @throws ModelLoadError, also if the base's vectors are not of the model that the server computes */
  async lease(signal?: AbortSignal): Promise<Lease<TextEmbedder>> {
    const due = this.#due;
    if (due !== undefined && this.#storage !== undefined) {
      await this.#compare(this.#storage, due, signal).catch((error: unknown) => {
        throw this.#refusal(error);
      });
      if (this.#due === due) this.#due = undefined;
    }
    return this.#given.lease(signal);
  }

  /** Sets the storage with which a comparison that is still due is made. */
  serve(storage: Storage): void {
    this.#storage = storage;
  }

  /**
   * Compares the vectors of a storage that was loaded. Returns false if the server does not answer soon: then that is due before the
   * first embedding. @throws INVALID_ARGUMENT if the vectors are of another model
   */
  async compare(storage: Storage, comparison: Comparison, signal: AbortSignal | undefined): Promise<boolean> {
    this.#due = comparison;
    if (this.#given.isUnasked) return false;
    const soon = AbortSignal.timeout(soonMs);
    try {
      await this.#compare(storage, comparison, signal === undefined ? soon : AbortSignal.any([signal, soon]));
      this.#due = undefined;
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      if (!soon.aborted && !(error instanceof RemoteModelError && error.isOutage)) throw error;
      return false;
    }
  }

  async #compare(
    storage: Storage,
    { ids, file }: Comparison,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const found = await storage.known(ids, { signal });
    const left = found.length > 0 ? found : (await storage.list({ limit: 1, signal })).map(({ id }) => id);
    await requireSameModel(storage, left, { model: this.#given, file }, signal);
  }

  /** Requests tell their clients why a model cannot be used, and no path. */
  #refusal(error: unknown): unknown {
    if (!(error instanceof LorekeepError) || error instanceof ModelLoadError) return error;
    const { code, detail } = error;
    if (code !== 'INVALID_ARGUMENT') return error;
    const { file = '', reason = '', remedy } = detail;
    const facts = { model: this.name, file, reason: `${reason}; ${remedy}`, told: reason };
    return new ModelLoadError(code, facts, { cause: error });
  }
}
