import type { DoorSession } from '../host.js';
import { type FieldFacts, fieldFacts } from './fields.js';
import { McpRefusal } from './refusal.js';
import { longestName, namesWithin, quotedWithin, unknownName } from './text.js';

/** A storage that clients may name. */
export interface ShownStorage {
  readonly name: string;
  /** The folder of its documents, as the user names it; undefined for a knowledge base. */
  readonly folder?: string | undefined;
  /** Whether the client may change it. */
  readonly writable: boolean;
}

/** A storage with what is in it. */
export interface StorageFacts extends ShownStorage {
  readonly records: number;
  readonly fields: readonly FieldFacts[];
}

/** At least one storage. */
export type Chosen = readonly [ShownStorage, ...ShownStorage[]];

/** Most storages that one search takes. */
const maxSearched = 16;

/** The storages that one client sees. */
export interface Knowledge {
  readonly session: DoorSession;
  readonly storages: readonly ShownStorage[];
  /** Catalog name of the language model that answers; undefined: sentences are quoted. */
  readonly model: string | undefined;
}

/** Returns the named storage, or all of them. @throws McpRefusal with the nearest name */
export function chosen({ storages }: Knowledge, name: string | undefined): Chosen {
  if (name !== undefined) return [named(storages, name)];
  const [first, ...others] = storages;
  if (first === undefined)
    throw new McpRefusal('there are no storages: http.storages of the server names none');
  if (storages.length > maxSearched)
    throw new McpRefusal(
      `storage: is missing: there are ${storages.length} storages, and at most ${maxSearched} are searched at once; name one of ${namesOf(storages)}`,
    );
  return [first, ...others];
}

/** Returns the named storage, or the first one. @throws McpRefusal with the nearest name */
export function chosenOne(knowledge: Knowledge, name: string | undefined): ShownStorage {
  return name === undefined
    ? chosen(knowledge, knowledge.storages[0]?.name)[0]
    : named(knowledge.storages, name);
}

/** Returns the named storage, or the only one that the client may change. @throws McpRefusal */
export function chosenWritable({ storages }: Knowledge, name: string | undefined): ShownStorage {
  const writable = storages.filter((each) => each.writable);
  if (name !== undefined) {
    const found = named(storages, name);
    if (found.writable) return found;
    throw new McpRefusal(
      `storage: ${quotedWithin(name, longestName)} is read-only; ${namesOf(writable)} may be changed`,
    );
  }
  const [only, other] = writable;
  if (only !== undefined && other === undefined) return only;
  throw new McpRefusal(`storage: is missing; name one of ${namesOf(writable)}`);
}

function named(storages: readonly ShownStorage[], name: string): ShownStorage {
  const found = storages.find((each) => each.name === name);
  if (found !== undefined) return found;
  const message = unknownName(
    'storage',
    name,
    storages.map((each) => each.name),
  );
  throw new McpRefusal(`storage: ${message}`);
}

const namesOf = (storages: readonly ShownStorage[]) => namesWithin(storages.map(({ name }) => name));

/** Records that are looked at for the values of the fields. */
const sampledRecords = 200;

/** Looks at a storage. @throws as DoorSession.call() and pin() */
export async function factsOf(session: DoorSession, storage: ShownStorage): Promise<StorageFacts> {
  const { name } = storage;
  const fields = { name, limit: sampledRecords };
  const { records, total } = await session.call('ListEmbeddedStringStorageRequest', fields);
  const pin = await session.pin(name, 'storage');
  try {
    return { ...storage, records: total, fields: fieldFacts(pin.value.storage.fields ?? [], records) };
  } finally {
    await pin.release();
  }
}
