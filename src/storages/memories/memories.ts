import { LorekeepError } from '../../../lib/internal.js';
import { untilAborted } from '../../base/waiting/until-aborted.js';
import type { ClientMemory } from '../../fairness/client-memory.js';
import type { KnowledgeBase, SearchableStorage } from '../../knowledge/index.js';
import { openKnowledgeBase } from '../../knowledge/open.js';
import { type OnForgotten, OperatorSocket } from '../../knowledge/operator/operator-socket.js';
import { Holders, type Pin } from '../../knowledge/pin.js';
import type { Log } from '../../log/log.js';
import type { CatalogModel, CatalogModels } from '../../models/catalog-models.js';
import { ModelLoadError } from '../../models/model-load-error.js';
import { fail, serverError } from '../../protocol/errors.js';
import { changeError } from '../change-error.js';
import type { StorageWrites } from '../changes.js';
import { type DiskLimits, DiskRoom } from '../disk-room.js';
import { mergeIfSmaller } from '../merge-if-smaller.js';
import {
  createMemoryFolder,
  emptyMemoryBytes,
  folderBytes,
  type MemoryWish,
  memoryConfig,
  memoryDimension,
  memoryIds,
  memoryRecords,
  readIdentity,
  removeMemoryFolder,
} from './memory-folder.js';
import { asMemory } from './owned.js';
import { isSecretOf, type MemorySecret, makeSecret, parseSecret } from './secret.js';

export interface MemoriesOptions {
  /** Absolute path of the folder of the memories that last; made when it is needed. */
  readonly root: string;
  readonly models: CatalogModels;
  readonly log: Log;
  /** What the operator allows now. */
  writes(): StorageWrites;
  limits(): DiskLimits;
  /** Told of records that the operator has forgotten; returns the histories that quote them. */
  onForgotten?: OnForgotten | undefined;
}

/** The memories of all sessions that outlive them. Sessions with the same secret share one storage. */
export class Memories {
  readonly room: DiskRoom;
  readonly #options: MemoriesOptions;
  readonly #open = new Map<string, Promise<Holders<KnowledgeBase>>>();
  readonly #closing = new Map<string, Promise<unknown>>();

  constructor(options: MemoriesOptions) {
    this.#options = options;
    const { root, limits } = options;
    this.room = new DiskRoom({
      bytesOf: (id) => folderBytes(root, id),
      known: () => memoryIds(root),
      limits,
      shrink: (id) => this.#shrink(id),
      refuse: refuseBytes,
    });
  }

  /** @throws StorageNotWritable. `path`: the field that asks for a memory */
  checkAllowed(path: string): void {
    const storage_writes = this.#options.writes();
    if (storage_writes !== 'none') return;
    fail(8012, `${path}: the server keeps no memories (storage_writes is "none")`, { path, storage_writes });
  }

  /** Makes a memory. @throws MemoriesFull, ChangeNotSaved, errors of the model */
  async create(
    wish: MemoryWish,
    client: ClientMemory,
    signal: AbortSignal,
  ): Promise<{ secret: MemorySecret; pin: Pin<SearchableStorage> }> {
    const letGo = await this.room.take(client, emptyMemoryBytes);
    try {
      return await this.#create(wish, client, signal);
    } finally {
      letGo();
    }
  }

  async #create(
    wish: MemoryWish,
    client: ClientMemory,
    signal: AbortSignal,
  ): Promise<{ secret: MemorySecret; pin: Pin<SearchableStorage> }> {
    const { root, models } = this.#options;
    const model = await untilAborted(models.resolve(wish.embedding_model), signal);
    const secret = makeSecret();
    try {
      await createMemoryFolder(root, secret, wish, model);
      this.room.open(client, secret.id);
      await this.room.measure(secret.id);
      return { secret, pin: await this.#pin(secret.id, model) };
    } catch (error) {
      await this.discard(secret);
      this.#options.log.warn({ err: error }, 'a memory could not be made');
      throw notSaved(error);
    }
  }

  /**
   * Opens the memory of a secret, if scope and name are its own.
   * @throws MemoryNotFound, equal for a wrong secret and for an unknown name; InvalidParam for another model
   */
  async openExisting(
    given: string,
    wish: MemoryWish,
    where: string,
    client: ClientMemory,
    signal: AbortSignal,
  ): Promise<{ secret: MemorySecret; pin: Pin<SearchableStorage> }> {
    const { root, models } = this.#options;
    // A text that is no secret takes the same way.
    const secret = parseSecret(given) ?? { id: '0'.repeat(16), key: given };
    const identity = await readIdentity(root, secret.id);
    const isRight = isSecretOf(secret, identity?.secret_sha256);
    if (!isRight || identity?.scope !== wish.scope || identity.name !== wish.name) refuseSecret(where);
    if (identity.embedding_model !== wish.embedding_model) {
      const path = `${where}embedding_model`;
      const message = `the memory was made with ${JSON.stringify(identity.embedding_model)}`;
      fail(4003, `${path}: ${message}`, { path });
    }
    const stored = () => memoryDimension(root, secret.id);
    const model = await untilAborted(models.resolve(wish.embedding_model, stored), signal);
    try {
      const pin = await this.#pin(secret.id, model);
      this.room.open(client, secret.id);
      return { secret, pin };
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a memory could not be opened');
      throw unreadable(error, `${where}secret`);
    }
  }

  /** Removes a memory whose secret nobody was told. Precondition: no pin. */
  async discard({ id }: MemorySecret): Promise<void> {
    await removeMemoryFolder(this.#options.root, id).catch((err: unknown) =>
      this.#options.log.warn({ err }, 'a memory that was not used could not be removed'),
    );
    await this.room.measure(id);
  }

  async #shrink(id: string): Promise<boolean> {
    const holders = await this.#open.get(id)?.catch(() => undefined);
    // It would be closed when it is let go.
    if (holders === undefined || holders.count === 0) return false;
    await using pin = holders.pin();
    return await mergeIfSmaller(pin.value);
  }

  async #pin(id: string, model: CatalogModel): Promise<Pin<SearchableStorage>> {
    for (;;) {
      const opening = this.#open.get(id) ?? this.#load(id, model);
      this.#open.set(id, opening);
      const holders = await opening;
      // It may have been closed meanwhile.
      if (this.#open.get(id) === opening) return holders.pin();
    }
  }

  #load(id: string, model: CatalogModel): Promise<Holders<KnowledgeBase>> {
    const { root, log, onForgotten } = this.#options;
    const load = async () => {
      // Its lock is held until it is closed.
      await this.#closing.get(id);
      const storage = await openKnowledgeBase(memoryConfig(root, id), { models: async () => model, log });
      const socket = await OperatorSocket.open(memoryRecords(root, id), storage, log, onForgotten);
      if (socket !== undefined) storage.attach(socket);
      asMemory(storage, {
        take: (client, more) => this.room.take(client, more),
        measure: () => this.room.measure(id),
      });
      return new Holders(storage, async () => {
        this.#open.delete(id);
        const closing = storage.close().finally(() => this.#closing.delete(id));
        this.#closing.set(
          id,
          closing.catch(() => undefined),
        );
        await closing;
        await this.room.measure(id);
      });
    };
    const loading = load();
    loading.catch(() => this.#open.delete(id));
    return loading;
  }
}

const fieldsOf = { all: 'memories_max_mb', client: 'memories_client_max_mb' } as const;

function refuseBytes(which: keyof DiskLimits, limit: number): never {
  const field = fieldsOf[which];
  const whose = which === 'client' ? 'of this client' : 'of all clients';
  const problem = `the memories ${whose} may take ${limit / 1024 / 1024} MiB on disk (${field})`;
  const details = { path: 'storage', field, limit };
  fail(8021, `storage: ${problem}; forget something, or ask the operator for more`, details);
}

function refuseSecret(where: string): never {
  const path = `${where}secret`;
  fail(8020, `${path}: no memory of this scope and name has this secret`, { path });
}

/** Errors of the files tell no path. */
function unreadable(error: unknown, path: string): unknown {
  if (!(error instanceof LorekeepError) || error instanceof ModelLoadError) return error;
  const message = `${path}: the files of the memory cannot be read; the server's log has the reason`;
  return serverError(8003, message, { path }, { cause: error });
}

/** Errors of the disk tell no path. */
function notSaved(error: unknown): unknown {
  if (error instanceof LorekeepError) return changeError(error);
  if ((error as NodeJS.ErrnoException)?.syscall === undefined) return error;
  const message = "storage: the memory could not be written; the server's log has the reason";
  return serverError(8014, message, { path: 'storage' }, { cause: error });
}
