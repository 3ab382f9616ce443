import { LorekeepError } from '../../lib/index.js';
import { defaultCacheBytes } from './default-cache-bytes.js';
import { fileIdentity } from './identity.js';
import type { KnowledgeBase } from './knowledge-base.js';
import { type KnowledgeLog, noLog } from './log.js';
import { type ModelResolver, type ModelSource, modelResolver } from './model.js';
import { openKnowledgeBase } from './open.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import { type ConfigFiles, plainFiles } from './paths.js';
import { type EntryFacts, PinCache } from './pin-cache.js';
import { configArgument } from './source.js';

export interface KnowledgeBaseCacheOptions {
  /** Gives the model that a config file names. */
  models: ModelSource;
  /**
   * Knowledge bases that nobody holds are closed while all together take more. Default: a quarter of the memory of the machine,
   * or of the container's limit.
   */
  maxBytes?: number | undefined;
  /** Default: silent. */
  log?: KnowledgeLog | undefined;
}

const known: OptionNames<KnowledgeBaseCacheOptions> = { models: true, maxBytes: true, log: true };

export interface CachedOpenOptions {
  signal?: AbortSignal | undefined;
}

/** One holder's claim on a shared knowledge base, which stays open and the same until every claim is released. */
export interface KnowledgeBasePin extends AsyncDisposable {
  /** Not to be closed by its holders. */
  readonly knowledgeBase: KnowledgeBase;
  /** Another claim on the same one. Precondition: this one is not released. */
  again(): KnowledgeBasePin;
  /** Gives the claim up. Once is enough, twice is fine. */
  release(): Promise<void>;
}

/**
 * Knowledge bases shared by all that open them through it: one copy of each, loaded once. One that is held never changes; when
 * a file of it has changed, the next open() loads the new content beside it. One that nobody holds is kept for the
 * next open(), until memory is wanted: then the least recently used is closed first.
 */
export class KnowledgeBaseCache implements AsyncDisposable {
  readonly #models: ModelResolver;
  readonly #log: KnowledgeLog;
  readonly #pins: PinCache<KnowledgeBase>;

  #closed = false;

  /** @throws INVALID_ARGUMENT */
  constructor(options: KnowledgeBaseCacheOptions) {
    checkOptionNames(options, known, 'KnowledgeBaseCache');
    const { models, maxBytes = defaultCacheBytes(), log = noLog } = options;
    if (typeof maxBytes !== 'number' || !(maxBytes >= 0)) {
      throw new LorekeepError('INVALID_ARGUMENT', 'maxBytes: a number of at least 0 is expected', {
        argument: 'maxBytes',
      });
    }
    this.#models = modelResolver(models);
    this.#log = log;
    this.#pins = new PinCache(maxBytes, (config, bytes) => log.info({ config, bytes }, 'storage closed'));
  }

  /** Knowledge bases that are loaded or being loaded. */
  get size(): number {
    return this.#pins.size;
  }

  /** Bytes that all of them take. */
  get bytes(): number {
    return this.#pins.bytes;
  }

  /** State, holders and weight of each; `name` is its config file. */
  entries(): EntryFacts[] {
    return this.#pins.entries();
  }

  /**
   * A claim on the knowledge base of a config file, whose relative paths start at its folder.
   * @throws as openKnowledgeBase(); CLOSED after close(); the signal's reason
   */
  async open(configPath: string, options: CachedOpenOptions = {}): Promise<KnowledgeBasePin> {
    return this.openFiles(plainFiles(configArgument(configPath)), options);
  }

  /** As open(), for files that were resolved in another way. They are closed when they are not needed any more. */
  async openFiles(files: ConfigFiles, options: CachedOpenOptions = {}): Promise<KnowledgeBasePin> {
    const { signal = new AbortController().signal } = options;
    let loading = false;
    const load = (abort: AbortSignal) => {
      loading = true;
      return this.#load(files, abort).finally(() => files.close());
    };
    try {
      if (this.#closed) throw new LorekeepError('CLOSED', 'KnowledgeBaseCache: used after close()');
      const key = await fileIdentity(files.config, files.resolvePath);
      return claim(await this.#pins.acquire(key, files.name, load, signal));
    } catch (error) {
      throw shownError(error, files.shown);
    } finally {
      if (!loading) await files.close();
    }
  }

  /** Closes what nobody holds; the others close when they are released. Resolves when no load is under way. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#pins.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #load(files: ConfigFiles, signal: AbortSignal): Promise<KnowledgeBase> {
    const started = performance.now();
    const { config, resolvePath } = files;
    const log = shownLog(this.#log, files);
    const options = { models: this.#models, resolvePath, signal, log };
    const opened = await openKnowledgeBase(config, options).catch((error) => {
      throw shownError(error, files.shown);
    });
    const ms = Math.round(performance.now() - started);
    const { size, dimension, bytes } = opened;
    log.info({ config: files.name, records: size, dimension, bytes, ms }, 'storage loaded');
    return opened;
  }
}

function claim(pin: Awaited<ReturnType<PinCache<KnowledgeBase>['acquire']>>): KnowledgeBasePin {
  return {
    knowledgeBase: pin.value,
    again: () => claim(pin.again()),
    release: () => pin.release(),
    [Symbol.asyncDispose]: () => pin.release(),
  };
}

/** The error in terms of paths. */
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
