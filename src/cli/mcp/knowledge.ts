import type { DoorSession } from '../../doors/host.js';
import { factsOf, type Knowledge, type StorageFacts } from '../../doors/mcp/knowledge.js';
import { startHere } from '../ask/here.js';
import type { OpenFlags } from '../ask/opened.js';
import type { PlaceHere } from '../ask/places.js';
import { storageNames } from './storage-names.js';

export interface McpFlags extends OpenFlags {
  /** Whether the host's model may change the places. */
  write?: boolean;
}

/** Folders and knowledge bases that are open in this process. */
export class KnowledgeHere implements Knowledge, AsyncDisposable {
  readonly session: DoorSession;
  storages: readonly StorageFacts[];
  readonly model: string | undefined;
  readonly #close: () => Promise<void>;

  private constructor(
    { session, storages, model }: Knowledge & { storages: readonly StorageFacts[] },
    close: () => Promise<void>,
  ) {
    this.session = session;
    this.storages = storages;
    this.model = model;
    this.#close = close;
  }

  /**
   * Indexes the folders as far as they have changed, and opens everything. `onForgotten` is told when the facts of the storages have lost
   * those of forgotten records. @throws as startHere()
   */
  static async open(
    places: readonly PlaceHere[],
    flags: McpFlags,
    signal: AbortSignal,
    onForgotten: (storages: readonly StorageFacts[]) => void,
  ): Promise<KnowledgeHere> {
    const writable = flags.write === true;
    const { server, configs, model } = await startHere(places, flags, signal, writable ? 'files' : 'none');
    let close = () => server.close();
    try {
      const host = await server.doorHost();
      const client = host.connect('127.0.0.1', 'mcp', {
        lags: () => false,
        whenWritten: (callback) => callback(),
        expel: () => void client.close(),
      });
      const names = storageNames(places);
      const files = names.map(
        (name, index) => [name, { config: configs[index] as string, writable }] as const,
      );
      const session = client.openStorages(Object.fromEntries(files));
      const storages: StorageFacts[] = [];
      const pins: { release(): Promise<void> }[] = [];
      close = async () => {
        await Promise.all(pins.map((pin) => pin.release()));
        await client.close();
        await server.close();
      };
      for (const [index, name] of names.entries()) {
        // It stays in memory for as long as the process runs.
        pins.push(await session.pin(name, 'storage'));
        const { kind, path } = places[index] as PlaceHere;
        const folder = kind === 'folder' ? path : undefined;
        storages.push(await factsOf(session, { name, folder, writable: session.mayChange(name) }));
        signal.throwIfAborted();
      }
      const knowledge = new KnowledgeHere({ session, storages, model }, close);
      host.whenForgotten(async () => {
        await knowledge.#look();
        onForgotten(knowledge.storages);
      });
      return knowledge;
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** Looks at the storages again. One that cannot be read has no values. */
  async #look(): Promise<void> {
    const look = (storage: StorageFacts) =>
      factsOf(this.session, storage).catch(() => ({
        ...storage,
        fields: storage.fields.map((field) => ({ ...field, values: [] })),
      }));
    this.storages = await Promise.all(this.storages.map(look));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
