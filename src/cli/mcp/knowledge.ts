import { didYouMean, nearestName } from '../../base/schema/nearest.js';
import type { DoorSession } from '../../doors/host.js';
import type { Pin, SearchableStorage } from '../../knowledge/index.js';
import { configBelow, startHere } from '../ask/here.js';
import type { OpenFlags } from '../ask/opened.js';
import type { PlaceHere } from '../ask/places.js';
import { CommandError } from '../failure.js';
import { type FieldFacts, fieldFacts } from './fields.js';
import { longestName, storageNames } from './storage-names.js';
import { printableWithin } from './text.js';

/** A storage, as clients see it. */
export interface StorageFacts {
  readonly name: string;
  /** The folder of its documents; undefined for a knowledge base. */
  readonly folder: string | undefined;
  readonly records: number;
  readonly fields: readonly FieldFacts[];
}

/** At least one storage. */
export type Chosen = readonly [StorageFacts, ...StorageFacts[]];

/** Records that are looked at for the values of the fields. */
const sampledRecords = 200;

/** Folders and knowledge bases that are open in this process. */
export class Knowledge implements AsyncDisposable {
  readonly session: DoorSession;
  readonly storages: readonly StorageFacts[];
  /** Catalog name of the language model that answers; undefined: sentences are quoted. */
  readonly model: string | undefined;
  readonly #close: () => Promise<void>;

  private constructor(
    session: DoorSession,
    storages: readonly StorageFacts[],
    model: string | undefined,
    close: () => Promise<void>,
  ) {
    this.session = session;
    this.storages = storages;
    this.model = model;
    this.#close = close;
  }

  /** Indexes the folders as far as they have changed, and opens everything. @throws as startHere() */
  static async open(places: readonly PlaceHere[], flags: OpenFlags, signal: AbortSignal): Promise<Knowledge> {
    const { server, configs, root, model } = await startHere(places, flags, signal);
    try {
      const host = await server.doorHost();
      const client = host.connect('127.0.0.1', 'mcp', {
        lags: () => false,
        whenWritten: (callback) => callback(),
        expel: () => void client.close(),
      });
      const session = await client.openFolder(root);
      const names = storageNames(places);
      const storages: StorageFacts[] = [];
      for (const [index, file] of configs.entries()) {
        const name = names[index] as string;
        await session.call('CreateEmbeddedStringStorageRequest', {
          name,
          config_path: configBelow(root, file),
        });
        const { kind, path } = places[index] as PlaceHere;
        storages.push(await factsOf(session, name, kind === 'folder' ? path : undefined));
        signal.throwIfAborted();
      }
      return new Knowledge(session, storages, model, async () => {
        await client.close();
        await server.close();
      });
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  get names(): string[] {
    return this.storages.map(({ name }) => name);
  }

  /** Returns the named storage, or all of them. @throws CommandError with the nearest name */
  chosen(name: string | undefined): Chosen {
    // The command takes at least one place.
    if (name === undefined) return this.storages as Chosen;
    const found = this.storages.find((each) => each.name === name);
    if (found !== undefined) return [found];
    const nearest = didYouMean(nearestName(name, this.names));
    const known = nearest || `; there is ${this.names.map((each) => JSON.stringify(each)).join(', ')}`;
    throw new CommandError(
      'NOT_FOUND',
      `storage: there is no storage ${JSON.stringify(printableWithin(name, longestName))}${printableWithin(known, 400)}`,
    );
  }

  /** The folder of a storage's documents. */
  folderOf(storage: string): string | undefined {
    return this.storages.find(({ name }) => name === storage)?.folder;
  }

  /** Works on a storage. It cannot be closed meanwhile. */
  async with<T>(name: string, work: (storage: SearchableStorage) => Promise<T>): Promise<T> {
    return pinned(await this.session.pin(name, 'storage'), work);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

async function pinned<T>(
  pin: Pin<SearchableStorage>,
  work: (storage: SearchableStorage) => Promise<T>,
): Promise<T> {
  try {
    return await work(pin.value);
  } finally {
    await pin.release();
  }
}

async function factsOf(
  session: DoorSession,
  name: string,
  folder: string | undefined,
): Promise<StorageFacts> {
  return pinned(await session.pin(name, 'name'), async ({ storage, size: records }) => {
    const sample = await storage.list({ limit: sampledRecords, signal: session.signal });
    return { name, folder, records, fields: fieldFacts(storage.fields ?? [], sample) };
  });
}
