import { AnyLorekeepError, type ErrorDetail, LorekeepError, messageOf } from '../../lib/basics.js';
import type { VersionLimits } from '../../lib/internal.js';
import { defaultCacheBytes } from '../base/machine/default-cache-bytes.js';
import { PendingWork } from '../base/waiting/pending-work.js';
import { isChanged, isFileError } from './file-error.js';
import { type FilesIdentity, identifySource } from './identity.js';
import type { KnowledgeBase } from './knowledge-base.js';
import { type KnowledgeLog, noLog } from './log.js';
import { type KnowledgeModel, type ModelResolver, type ModelSource, modelResolver } from './model.js';
import { openSource } from './open.js';
import { type OnForgotten, OperatorSocket } from './operator/operator-socket.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import { type ConfigFiles, type ConfigPlace, type KnowledgeBaseFiles, plainPlace } from './paths.js';
import type { Pin } from './pin.js';
import { type EntryFacts, PinCache } from './pin-cache.js';
import type { PostgresConnections } from './postgres/connections.js';
import { openEngineBase } from './postgres/open.js';
import { noProgress } from './progress.js';
import {
  buildCommandOf,
  configArgument,
  findModel,
  type ResolvedEngine,
  type ResolvedSource,
  resolveSource,
} from './resolve.js';

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
  /** Older versions that each knowledge base keeps; read when one is loaded. Default: none. */
  versions?: (() => VersionLimits) | undefined;
  /** The connections of knowledge bases whose config names a database. Default: none. */
  connections?: PostgresConnections | undefined;
  /** @internal Lets the operator change knowledge bases through this process; told of records that were forgotten. */
  onForgotten?: OnForgotten | undefined;
}

/** A knowledge base of a cache. */
export interface KnowledgeBaseFacts extends EntryFacts {
  /** Number of records, and of the numbers of an embedding; absent while it is loading. */
  records?: number;
  dimension?: number;
}

/** Number of config files that are recognised without being read again. */
const maxPlaces = 256;

const known: OptionNames<KnowledgeBaseCacheOptions> = {
  models: true,
  maxBytes: true,
  readOnly: true,
  log: true,
  versions: true,
  connections: true,
  onForgotten: true,
};

export interface CachedOpenOptions {
  /** Aborting rejects this call; the load continues while others wait for it. */
  signal?: AbortSignal | undefined;
  /**
   * If the files have changed since the knowledge base was loaded: "wait" for the new load, or "serve" the loaded one,
   * while the new content is loaded in the background. The loaded one must still be in memory. Default "wait".
   */
  stale?: 'wait' | 'serve' | undefined;
}

/**
 * Shares knowledge bases among callers: each is loaded once. A pinned one never changes. After one of its files has changed,
 * the next open() loads the new content, and the old one stays until that has succeeded. Unpinned ones stay for the next
 * open() until `maxBytes` is exceeded; then the least recently used is closed first.
 */
export class KnowledgeBaseCache implements AsyncDisposable, Disposable {
  readonly #models: ModelResolver;
  readonly #given: ModelSource;
  readonly #readOnly: boolean;
  readonly #log: KnowledgeLog;
  readonly #onForgotten: OnForgotten | undefined;
  readonly #versions: () => VersionLimits;
  readonly #connections: PostgresConnections | undefined;
  readonly #pins: PinCache<KnowledgeBase>;
  /** Files last loaded from the latest places, least recently used first. */
  readonly #places = new Map<string, FilesIdentity>();
  /** Keys of files whose loads in the background failed, by place. */
  readonly #failed = new Map<string, string>();
  /** Places that are being loaded in the background. */
  readonly #refreshing = new Set<string>();
  readonly #background = new PendingWork();
  /** Ends the loads in the background. */
  readonly #closing = new AbortController();
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
    this.#given = models;
    this.#readOnly = options.readOnly === true;
    this.#log = log;
    this.#onForgotten = options.onForgotten;
    this.#connections = options.connections;
    this.#versions = options.versions ?? (() => ({}));
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

  /** State, pins and bytes of each, and what is in it once it is loaded; `name` is its config file. */
  entries(): KnowledgeBaseFacts[] {
    return this.#pins.entries(({ size, dimension }) => ({ records: size, dimension }));
  }

  /** @internal Closes the unpinned knowledge bases, or that of one config file. Returns their number. */
  evictIdle(name?: string): Promise<number> {
    return this.#pins.evictIdle(name);
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
    return (
      this.#known(place, options) ?? (await this.#merged(place, options)) ?? this.#resolve(place, signal)
    );
  }

  /** Returns a pin on the knowledge base last loaded from this place, if it is still loaded and current, or stale and `stale` allows it. */
  #known(place: ConfigPlace, { stale = 'wait' }: CachedOpenOptions): Pin<KnowledgeBase> | undefined {
    const identity = this.#places.get(place.key);
    if (identity === undefined) return undefined;
    const isCurrent = identity.isCurrent();
    if (!isCurrent && stale === 'wait') return undefined;
    const pin = this.#pins.find(identity.key);
    this.#places.delete(place.key);
    if (pin !== undefined) this.#places.set(place.key, identity);
    if (pin !== undefined && !isCurrent) this.#background.track(this.#refresh(place));
    return pin;
  }

  /** Returns a pin on the knowledge base of this place if its files have changed because it was merged. */
  async #merged(place: ConfigPlace, options: CachedOpenOptions): Promise<Pin<KnowledgeBase> | undefined> {
    const identity = this.#places.get(place.key);
    const pin = identity && this.#pins.find(identity.key);
    if (pin === undefined) return undefined;
    try {
      // A merge that has put its files in place says so at its end.
      await pin.value.changes.settled();
      return this.#known(place, { ...options, stale: 'wait' });
    } finally {
      await pin.release();
    }
  }

  /** Has requests for the files that a merge has put in place find the knowledge base that has their content. */
  #follow(merged: KnowledgeBase, size: number): void {
    const before = merged.identity;
    const identity = before?.merged(size);
    if (before === undefined || identity === undefined) return;
    merged.identity = identity;
    this.#pins.rename(before.key, identity.key);
    for (const [place, known] of this.#places)
      if (known.key === before.key) this.#places.set(place, identity);
  }

  /** Loads the new content of a place, unless that is under way or has failed. Never rejects. */
  async #refresh(place: ConfigPlace): Promise<void> {
    const { key } = place;
    if (this.#refreshing.has(key)) return;
    this.#refreshing.add(key);
    try {
      const pin = await this.#resolve(place, this.#closing.signal, this.#failed.get(key));
      this.#failed.delete(key);
      await pin?.release();
    } catch (error) {
      if (!this.#closed)
        this.#log.warn({ err: error }, 'changed files are not loaded: the last build is served');
    } finally {
      this.#refreshing.delete(key);
    }
  }

  #resolve(place: ConfigPlace, signal?: AbortSignal): Promise<Pin<KnowledgeBase>>;
  /** Returns undefined for files with the key `except`. */
  #resolve(
    place: ConfigPlace,
    signal: AbortSignal | undefined,
    except: string | undefined,
  ): Promise<Pin<KnowledgeBase> | undefined>;
  async #resolve(
    place: ConfigPlace,
    signal = new AbortController().signal,
    except?: string,
  ): Promise<Pin<KnowledgeBase> | undefined> {
    const files = await place.open();
    let loading = false;
    let key: string | undefined;
    try {
      const { source, identity } = await inPaths(files, () => identifySource(files));
      key = identity.key;
      if (key === except) return undefined;
      const load = (abort: AbortSignal) => {
        loading = true;
        this.#loads++;
        return inPaths(files, () => this.#load(source, files, abort, place)).finally(() => files.close());
      };
      const pin = await this.#pins.acquire(identity.key, files.name, load, signal);
      this.#remember(place.key, this.#afterLoad(identity, pin.value));
      return pin;
    } catch (error) {
      if (key !== undefined && this.#places.has(place.key) && isFileError(error))
        this.#failed.set(place.key, key);
      throw error;
    } finally {
      if (!loading) await files.close();
    }
  }

  /** The identity of the files after a load that may have written the index. Loads of the same files find the same pin. */
  #afterLoad(identity: FilesIdentity, loaded: KnowledgeBase): FilesIdentity {
    if (loaded.identity === undefined) {
      loaded.identity = loaded.indexWritten ? identity.withWrittenIndex() : identity;
      this.#pins.rename(identity.key, loaded.identity.key);
    }
    return loaded.identity;
  }

  #remember(place: string, identity: FilesIdentity): void {
    this.#places.set(place, identity);
    if (this.#places.size <= maxPlaces) return;
    const [oldest] = this.#places.keys();
    this.#places.delete(oldest as string);
    this.#failed.delete(oldest as string);
  }

  /** Closes unpinned knowledge bases; the others close when they are released. Resolves when no load is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.abort(new LorekeepError('CANCELLED', 'the knowledge bases are closed'));
    await this.#pins.close();
    await this.#background.settled();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For `using`: closes without waiting for it, and drops its errors. */
  [Symbol.dispose](): void {
    this.close().catch(() => {});
  }

  async #load(
    source: ResolvedSource | ResolvedEngine,
    files: ConfigFiles,
    signal: AbortSignal,
    place: ConfigPlace,
  ): Promise<KnowledgeBase> {
    const started = performance.now();
    const log = logInPaths(this.#log, files);
    for (const warning of source.warnings) log.warn({ file: source.path }, warning);
    const model = await findModel(source, this.#models);
    if (!('files' in source)) return this.#loadEngine({ ...source, model }, files, signal);
    const opened = await openSource({
      ...source,
      model,
      buildCommand: buildCommandOf(files.name, this.#given),
      readOnly: this.#readOnly,
      versions: this.#versions(),
      log,
      signal,
      onProgress: noProgress,
      reopen: () => reopened(place),
    });
    opened.changes.onFiles = ({ size }) => this.#follow(opened, size);
    if (this.#onForgotten !== undefined) {
      const records = files.pathOf(source.files.records);
      const socket = await OperatorSocket.open(records, opened, log, this.#onForgotten);
      if (socket !== undefined) opened.attach(socket);
    }
    const ms = Math.round(performance.now() - started);
    const { size, dimension, bytes } = opened;
    log.info({ config: files.name, records: size, dimension, bytes, ms }, 'storage loaded');
    return opened;
  }

  async #loadEngine(
    source: ResolvedEngine & { model: KnowledgeModel },
    files: ConfigFiles,
    signal: AbortSignal,
  ): Promise<KnowledgeBase> {
    const readOnly = this.#readOnly;
    const opened = await openEngineBase({ ...source, connections: this.#connections, readOnly, signal });
    const { size, dimension } = opened;
    const { engine } = source.config;
    this.#log.info(
      { config: files.name, engine: engine.type, table: engine.table, records: size, dimension },
      'storage opened',
    );
    return opened;
  }
}

/** Opens the files of a place again, within its bounds. */
async function reopened(place: ConfigPlace): Promise<{ files: KnowledgeBaseFiles; close(): Promise<void> }> {
  const files = await place.open();
  try {
    const { files: named } = await resolveSource(files);
    return { files: named, close: () => files.close() };
  } catch (error) {
    await files.close();
    throw error;
  }
}

/** Runs work on the files of a config; facts of its errors are the paths of the files, not the names that they are opened by. */
async function inPaths<T>(files: ConfigFiles, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw withPaths(error, files);
  }
}

function withPaths(error: unknown, files: ConfigFiles): unknown {
  if (!(error instanceof AnyLorekeepError)) return error;
  const { code, detail, cause } = error;
  if (isChanged(error)) {
    const message = `${files.pathOf(detail.path ?? '')}: it was changed in place while it was in use; load it again`;
    return new AnyLorekeepError(code, message, detail, { cause });
  }
  if (detail.file === undefined || files.pathOf(detail.file) === detail.file) return error;
  const facts: ErrorDetail = factsInPaths(detail, files);
  return new AnyLorekeepError(code, messageOf(facts), facts, { cause });
}

function logInPaths(log: KnowledgeLog, files: ConfigFiles): KnowledgeLog {
  return {
    info: (facts, message) => log.info(factsInPaths(facts, files), message),
    warn: (facts, message) => log.warn(factsInPaths(facts, files), message),
  };
}

function factsInPaths(facts: object, files: ConfigFiles): object {
  const inPath = (value: unknown) =>
    typeof value === 'string' ? files.pathOf(value) : withPaths(value, files);
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, inPath(value)]));
}
