import { LorekeepError, type VersionLimits } from '../../lib/internal.js';
import { didYouMean, nearestName } from '../base/schema/nearest.js';
import { PendingWork } from '../base/waiting/pending-work.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import type { Account } from '../fairness/account.js';
import type { Holding } from '../fairness/client-memory.js';
import { storageNameBytes } from '../fairness/estimates.js';
import type { Pin, SearchableStorage } from '../knowledge/index.js';
import { disposable } from '../knowledge/pin.js';
import type { CatalogModels } from '../models/catalog-models.js';
import { fail, ServerError, serverError } from '../protocol/errors.js';
import {
  checkInlineSource,
  createEmptyStorage,
  createInlineStorage,
  type InlineSource,
} from './inline-storage.js';
import type { KnowledgeBaseStorages } from './knowledge-base-storages.js';
import { memoryFields } from './memories/fields.js';
import type { Memories } from './memories/memories.js';
import type { MemoryWish } from './memories/memory-folder.js';
import { asMemory } from './memories/owned.js';
import { type MemorySecret, parseSecret, secretText } from './memories/secret.js';
import type { DeclaredStorage, DeclaredStorages } from './session-folders.js';
import { checkStorageName, isPath } from './storage-name.js';
import type { StorageRoot } from './storage-root.js';

/** Maximum number of storage names per session. */
export const maxStorages = 1024;

/** A claim on a storage. */
export type StoragePin = Pin<SearchableStorage>;

/** Whether a request waits for changed files to be loaded. */
type Stale = 'wait' | 'serve';

export interface StorageFacts {
  recordCount: number;
  dimension: number;
  /** Whether the files have changed since they were loaded. */
  outdated: boolean;
}

/** A memory that an agent asks for. Without a secret, one that lasts is made. */
export interface MemoryRequest extends MemoryWish {
  readonly secret?: string | undefined;
}

/** A memory of a session. */
export interface SessionMemory {
  readonly pin: Pin<SearchableStorage>;
  /** The versions that it keeps. */
  versions(): VersionLimits;
  readonly created: boolean;
  /** Of a memory that was made and lasts. */
  readonly secret: string | undefined;
  /** Releases the pin, and undoes what was made. */
  undo(): Promise<void>;
}

/** Resources for opening the storages of a session. */
export interface StorageSources {
  readonly models: CatalogModels;
  readonly files: KnowledgeBaseStorages;
  /** The root for paths. */
  readonly root: StorageRoot;
  /** Of the session's client. */
  readonly account: Account;
  /** Storages that the session knows by name without having created them. Default: none. */
  readonly declared?: DeclaredStorages | undefined;
  /** The memories that outlive sessions. */
  readonly memories: Memories;
  /** The versions that changed storages keep. */
  versions(): VersionLimits;
}

/**
 * The named storages of one session. A name is taken as soon as its creation starts, and requests for it wait for the
 * creation, so that a client need not wait between the two.
 */
export class StorageSet {
  readonly #sources: StorageSources;
  readonly #signal: AbortSignal;
  /** The session's own pins. */
  readonly #named = new Map<string, Promise<Pin<SearchableStorage>>>();
  /** Which memory each name has; "": one that nobody else can mean. */
  readonly #memoryKeys = new Map<string, string>();
  /** Pending creations and destructions; their names may be gone from #named. */
  readonly #pending = new PendingWork();

  /** `signal`: aborted when the session ends; creations end then. */
  constructor(sources: StorageSources, signal: AbortSignal) {
    this.#sources = sources;
    this.#signal = signal;
  }

  get names(): string[] {
    return [...this.#named.keys()];
  }

  /** @throws InvalidStorageName, StorageNameTaken, TooManyStorages, InvalidEmbeddedStringStorageData; the signal's reason. */
  async createInline(name: string, source: InlineSource): Promise<StorageFacts> {
    this.#checkFree(name);
    checkInlineSource(source, this.#sources.models);
    return this.#create(name, () => this.#make(source));
  }

  /** @throws as createInline(), and StorageOutsideRoot, StorageFileNotFound */
  async createFromFile(name: string, configPath: string, stale?: Stale): Promise<StorageFacts> {
    this.#checkFree(name);
    return this.#create(name, () => this.#pinFile(configPath, 'config_path', stale));
  }

  /**
   * Opens a memory under a name, or makes it. Agents of the session share it. `where`: prefix of the paths of `storage` and `secret`
   * in errors. @throws StorageNotWritable, InvalidParam, StorageNameTaken, MemoryNotFound, MemoriesFull; as createInline()
   */
  async openMemory(name: string, wish: MemoryRequest, where: string): Promise<SessionMemory> {
    const { memories, versions } = this.#sources;
    memories.checkAllowed(`${where}storage`);
    this.#checkModel(wish.embedding_model, `${where}embedding_model`);
    const known = this.#named.get(name);
    const key = memoryKey(wish);
    if (known !== undefined && key !== undefined && this.#memoryKeys.get(name) === key) {
      if (wish.secret !== undefined) {
        const proof = await this.#openSecret(wish, where);
        await proof.release();
      }
      const pin = (await known).share();
      return { pin, versions, created: false, secret: undefined, undo: () => pin.release() };
    }
    this.#checkFree(name, `${where}storage`);
    let secret: MemorySecret | undefined;
    this.#memoryKeys.set(name, key ?? '');
    await this.#create(name, async () => {
      if (wish.scope === 'session') return this.#makeMemory(wish);
      if (wish.secret !== undefined) return this.#openSecret(wish, where);
      const { secret: _, ...identity } = wish;
      const made = await memories.create(identity, this.#sources.account.memory, this.#signal);
      secret = made.secret;
      this.#memoryKeys.set(name, made.secret.id);
      return made.pin;
    });
    const pin = await this.pin(name, `${where}storage`);
    const undo = async () => {
      await pin.release();
      await this.destroy(name).catch(() => {});
      if (secret !== undefined) await memories.discard(secret);
    };
    const created = wish.scope === 'session' || secret !== undefined;
    return { pin, versions, created, secret: secret && secretText(secret), undo };
  }

  /** Frees the name at once. Agents keep their pins; without any, the storage is closed when this resolves. */
  async destroy(name: string): Promise<void> {
    const making = this.#find(name, 'name');
    this.#named.delete(name);
    this.#memoryKeys.delete(name);
    const releasing = making.then((claim) => claim.release());
    await this.#pending.track(releasing.catch(() => this.#refuse(name, 'name')));
  }

  /**
   * Returns a new pin on the storage with a name, or else of a config file with that path. `where` names the field in errors,
   * `unknown` is the code for a value that could be a name and is neither.
   * @throws StorageNotFound; as createFromFile()
   */
  async pin(
    name: string,
    where: string,
    { unknown = 3010, stale }: { unknown?: 3010 | 8005; stale?: Stale } = {},
  ): Promise<Pin<SearchableStorage>> {
    const making = isPath(name) ? undefined : this.#named.get(name);
    const declared = making === undefined ? this.#sources.declared?.get(name) : undefined;
    if (declared !== undefined) {
      const { file, root } = declared;
      return this.#pending.track(this.#sources.files.pin(file, where, root, { signal: this.#signal, stale }));
    }
    if (making === undefined) return this.#pending.track(this.#pinUnnamed(name, where, unknown, stale));
    return making.then((claim) => claim.share()).catch(() => this.#refuse(name, where));
  }

  /** Returns the storage to which the operator's config gives this name; undefined if the session made one of the name, or there is none. */
  declared(name: string): DeclaredStorage | undefined {
    return this.#named.has(name) ? undefined : this.#sources.declared?.get(name);
  }

  /** Releases the session's pins after pending creations. Precondition: the signal is aborted. */
  async close(): Promise<void> {
    await this.#pending.settled();
    const named = await Promise.allSettled(this.#named.values());
    this.#named.clear();
    await Promise.all(named.map((made) => (made.status === 'fulfilled' ? made.value.release() : undefined)));
  }

  #checkFree(name: string, path = 'name'): void {
    checkStorageName(name, path);
    if (this.#named.has(name) || this.#sources.declared?.has(name)) {
      const taken = `the session has a storage ${JSON.stringify(name)} already`;
      fail(8002, `${path}: ${taken}; use another name, or destroy that one first`, { path, name });
    }
    if (this.#named.size >= maxStorages) {
      const full = `the session has reached its limit of ${maxStorages} storages`;
      fail(8006, `${path}: ${full}; destroy one first`, { path, limit: maxStorages });
    }
    this.#signal.throwIfAborted();
  }

  async #create(name: string, make: () => Promise<Pin<SearchableStorage>>): Promise<StorageFacts> {
    const memory = this.#sources.account.memory.hold('storages');
    memory.add(storageNameBytes, 'the storage was not created');
    const making = this.#pending.track(make().then((pin) => releasing(pin, memory)));
    this.#named.set(name, making);
    try {
      const { value } = await making;
      return { recordCount: value.size, dimension: value.dimension, outdated: value.outdated };
    } catch (error) {
      if (this.#named.get(name) === making) {
        this.#named.delete(name);
        this.#memoryKeys.delete(name);
      }
      memory.release();
      throw error;
    }
  }

  async #make(source: InlineSource): Promise<Pin<SearchableStorage>> {
    const model = await untilAborted(this.#sources.models.resolve(source.embeddingModel), this.#signal);
    const memory = this.#sources.account.memory.hold('storages');
    const { account, versions } = this.#sources;
    return createInlineStorage(source, model, { account, memory, versions: versions() }, this.#signal);
  }

  /** @throws InvalidParam */
  #checkModel(name: string, path: string): void {
    try {
      this.#sources.models.entry(name);
    } catch (cause) {
      if (!(cause instanceof LorekeepError) || cause.code !== 'INVALID_ARGUMENT') throw cause;
      const { reason, known, nearest } = cause.detail;
      throw serverError(4003, `${path}: ${reason}`, { path, known, nearest }, { cause });
    }
  }

  /** A memory of the session. */
  async #makeMemory({ embedding_model }: MemoryRequest): Promise<Pin<SearchableStorage>> {
    const model = await untilAborted(this.#sources.models.resolve(embedding_model), this.#signal);
    const memory = this.#sources.account.memory.hold('storages');
    const limits = { memory, versions: this.#sources.versions() };
    const pin = await createEmptyStorage(memoryFields, model, limits, this.#signal);
    asMemory(pin.value);
    return pin;
  }

  async #openSecret({ secret = '', ...wish }: MemoryRequest, where: string): Promise<Pin<SearchableStorage>> {
    const { memories, account } = this.#sources;
    return (await memories.openExisting(secret, wish, where, account.memory, this.#signal)).pin;
  }

  #pinFile(path: string, where: string, stale: Stale | undefined): Promise<Pin<SearchableStorage>> {
    return this.#sources.files.pin(path, where, this.#sources.root, { signal: this.#signal, stale });
  }

  /** Pins an unknown name as a path. If no such file exists and it could be a name, the error suggests the nearest name. */
  async #pinUnnamed(
    path: string,
    where: string,
    unknown: 3010 | 8005,
    stale: Stale | undefined,
  ): Promise<Pin<SearchableStorage>> {
    try {
      return await this.#pinFile(path, where, stale);
    } catch (error) {
      if (isPath(path) || !(error instanceof ServerError) || error.code !== 3010) throw error;
      if (unknown === 8005) return this.#refuse(path, where);
      const nearest = this.#nearest(path);
      const message = `${error.message}; the session has no storage of this name either${didYouMean(nearest)}`;
      throw serverError(3010, message, { path: where, ...error.details, nearest });
    }
  }

  #find(name: string, where: string): Promise<Pin<SearchableStorage>> {
    return this.#named.get(name) ?? this.#refuse(name, where);
  }

  #nearest(name: string): string | undefined {
    return nearestName(name, [...this.#named.keys(), ...(this.#sources.declared?.keys() ?? [])]);
  }

  #refuse(name: string, where: string): never {
    this.#signal.throwIfAborted();
    const nearest = this.#nearest(name);
    const shown = JSON.stringify(name.slice(0, 128));
    fail(8005, `${where}: the session has no storage ${shown}${didYouMean(nearest)}`, {
      path: where,
      nearest,
    });
  }
}

/** Tells whether two requests mean one memory; undefined for one that is to be made. */
function memoryKey({ scope, embedding_model, secret }: MemoryRequest): string | undefined {
  if (scope === 'session') return `session ${embedding_model}`;
  return secret === undefined ? undefined : (parseSecret(secret)?.id ?? '');
}

/** Returns a pin that also releases the memory of its name. */
function releasing<T>(pin: Pin<T>, memory: Holding): Pin<T> {
  const release = () => pin.release().finally(memory.release);
  return disposable({ value: pin.value, share: () => pin.share(), release });
}
