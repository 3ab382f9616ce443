import { LorekeepError } from '../../lib/index.js';
import { defaultCacheBytes } from '../limits/default-cache-bytes.js';
import { type FilesIdentity, identifySource } from './identity.js';
import type { KnowledgeBase } from './knowledge-base.js';
import { type KnowledgeLog, noLog } from './log.js';
import { type ModelResolver, type ModelSource, modelResolver } from './model.js';
import { openSource } from './open.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import { type ConfigFiles, type ConfigPlace, plainPlace } from './paths.js';
import type { Pin } from './pin.js';
import { type EntryFacts, PinCache } from './pin-cache.js';
import { noProgress } from './progress.js';
import { configArgument, findModel, type ResolvedSource } from './resolve.js';

export interface KnowledgeBaseCacheOptions {
  /** Provides the model that a config names. */
  models: ModelSource;
  /**
   * Unpinned knowledge bases are closed while all together take more bytes than this. Default: a quarter of the memory of the
   * machine or container.
   */
  maxBytes?: number | undefined;
  /** true: opening writes no file, see openKnowledgeBase(). Default: false. */
  readOnly?: boolean | undefined;
  /** Default: silent. */
  log?: KnowledgeLog | undefined;
}

/** Number of config files that are recognised without being read again. */
const mostPlaces = 256;

const known: OptionNames<KnowledgeBaseCacheOptions> = {
  models: true,
  maxBytes: true,
  readOnly: true,
  log: true,
};

export interface CachedOpenOptions {
  signal?: AbortSignal | undefined;
}

/**
 * Shares knowledge bases among callers: each is loaded once. A pinned one never changes; after one of its files has changed,
 * the next open() loads the new content beside it. Unpinned ones stay for the next open() until `maxBytes` is exceeded; then
 * the least recently used is closed first.
 */
export class KnowledgeBaseCache implements AsyncDisposable, Disposable {
  readonly #models: ModelResolver;
  readonly #readOnly: boolean;
  readonly #log: KnowledgeLog;
  readonly #pins: PinCache<KnowledgeBase>;
  /** Identities of the latest places, least recently used first. */
  readonly #places = new Map<string, FilesIdentity>();
  #closed = false;
  #requests = 0;
  #loads = 0;

  /** @throws INVALID_ARGUMENT */
  constructor(options: KnowledgeBaseCacheOptions) {
    checkOptionNames(options, known, 'KnowledgeBaseCache');
    const { models, maxBytes = defaultCacheBytes(), log = noLog } = options;
    if (typeof maxBytes !== 'number' || !(maxBytes >= 0)) {
      const reason = 'a number of at least 0 is expected';
      throw LorekeepError.about('INVALID_ARGUMENT', { field: 'maxBytes', reason });
    }
    this.#models = modelResolver(models);
    this.#readOnly = options.readOnly === true;
    this.#log = log;
    this.#pins = new PinCache(maxBytes, (config, bytes) => log.info({ config, bytes }, 'storage closed'));
  }

  /** Knowledge bases that are loaded or being loaded. */
  get size(): number {
    return this.#pins.size;
  }

  /** Bytes of all of them together. */
  get bytes(): number {
    return this.#pins.bytes;
  }

  /** Requests so far, and how many of them loaded a knowledge base. */
  get counts(): { requests: number; loads: number } {
    return { requests: this.#requests, loads: this.#loads };
  }

  /** State, pins and bytes of each; `name` is its config file. */
  entries(): EntryFacts[] {
    return this.#pins.entries();
  }

  /** @internal Returns a pin on a loaded knowledge base by the name that entries() gives. */
  loaded(name: string): Pin<KnowledgeBase> | undefined {
    return this.#pins.findByName(name);
  }

  /**
   * Returns a pin on the knowledge base of a config file. Relative paths in the config start at its folder.
   * @throws as openKnowledgeBase(); CLOSED after close(); the signal's reason
   */
  open(configPath: string, options: CachedOpenOptions = {}): Promise<Pin<KnowledgeBase>> {
    return this.openPlace(plainPlace(configArgument(configPath)), options);
  }

  /** Like open(), for a config whose files are resolved in another way. */
  async openPlace(place: ConfigPlace, options: CachedOpenOptions = {}): Promise<Pin<KnowledgeBase>> {
    const { signal } = options;
    if (this.#closed) throw new LorekeepError('CLOSED', 'KnowledgeBaseCache: used after close()');
    signal?.throwIfAborted();
    this.#requests++;
    return this.#known(place.key) ?? this.#resolve(place, signal);
  }

  /** Returns a pin on the knowledge base last found at this place, if it is loaded and no file has changed. */
  #known(place: string): Pin<KnowledgeBase> | undefined {
    const identity = this.#places.get(place);
    if (identity === undefined) return undefined;
    this.#places.delete(place);
    const pin = identity.isCurrent() ? this.#pins.find(identity.key) : undefined;
    if (pin !== undefined) this.#places.set(place, identity);
    return pin;
  }

  async #resolve(place: ConfigPlace, signal = new AbortController().signal): Promise<Pin<KnowledgeBase>> {
    const files = await place.open();
    let loading = false;
    try {
      const { source, identity } = await identifySource(files);
      const load = (abort: AbortSignal) => {
        loading = true;
        this.#loads++;
        return this.#load(source, files, abort).finally(() => files.close());
      };
      const pin = await this.#pins.acquire(identity.key, files.name, load, signal);
      this.#remember(place.key, identity);
      return pin;
    } catch (error) {
      throw shownError(error, files.shown);
    } finally {
      if (!loading) await files.close();
    }
  }

  #remember(place: string, identity: FilesIdentity): void {
    this.#places.set(place, identity);
    if (this.#places.size <= mostPlaces) return;
    const [oldest] = this.#places.keys();
    this.#places.delete(oldest as string);
  }

  /** Closes unpinned knowledge bases; the others close when they are released. Resolves when no load is under way. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#pins.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For `using`: closes without waiting for it, and drops its errors. */
  [Symbol.dispose](): void {
    this.close().catch(() => {});
  }

  async #load(source: ResolvedSource, files: ConfigFiles, signal: AbortSignal): Promise<KnowledgeBase> {
    const started = performance.now();
    const log = shownLog(this.#log, files);
    for (const warning of source.warnings) log.warn({ file: source.path }, warning);
    try {
      const model = await findModel(source, this.#models);
      const opened = await openSource({
        ...source,
        model,
        readOnly: this.#readOnly,
        log,
        signal,
        onProgress: noProgress,
      });
      const ms = Math.round(performance.now() - started);
      const { size, dimension, bytes } = opened;
      log.info({ config: files.name, records: size, dimension, bytes, ms }, 'storage loaded');
      return opened;
    } catch (error) {
      throw shownError(error, files.shown);
    }
  }
}

/** Rewrites an error in terms of paths. */
function shownError(error: unknown, shown: ConfigFiles['shown']): unknown {
  if (!(error instanceof LorekeepError)) return error;
  const { code, message, detail, cause } = error;
  return new LorekeepError(code, shown(message), shownFacts(detail, shown), { cause });
}

function shownLog(log: KnowledgeLog, { shown }: ConfigFiles): KnowledgeLog {
  return {
    info: (facts, message) => log.info(shownFacts(facts, shown), shown(message)),
    warn: (facts, message) => log.warn(shownFacts(facts, shown), shown(message)),
  };
}

function shownFacts(facts: object, shown: ConfigFiles['shown']): Record<string, unknown> {
  const show = (value: unknown) => (typeof value === 'string' ? shown(value) : shownError(value, shown));
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, show(value)]));
}
