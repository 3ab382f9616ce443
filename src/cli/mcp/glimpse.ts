import { join } from 'node:path';
import { readRegular } from '../../../lib/basics.js';
import type { ShownStorage, StorageFacts } from '../../doors/mcp/knowledge.js';
import { existingFolder, fileNames, placeOf, readFacts } from '../../knowledge/folder/place.js';

/** Upper bound of a config's size, in bytes. */
const maxConfigBytes = 1024 * 1024;

/**
 * Returns the storages with what the last index of their folders wrote about them: numbers of records, and fields without
 * values. Takes a few milliseconds, since nothing is opened. Never rejects.
 */
export function glimpse(storages: readonly ShownStorage[]): Promise<(ShownStorage | StorageFacts)[]> {
  return Promise.all(
    storages.map(async (storage) => ({ ...storage, ...(await lastFacts(storage).catch(() => undefined)) })),
  );
}

async function lastFacts({
  folder,
}: ShownStorage): Promise<Pick<StorageFacts, 'records' | 'fields'> | undefined> {
  if (folder === undefined) return undefined;
  const place = placeOf(await existingFolder(folder));
  const facts = await readFacts(place);
  if (facts === undefined || typeof facts.built !== 'string') return undefined;
  const { fields = [] } = JSON.parse(await readRegular(join(place, fileNames.config), maxConfigBytes));
  return {
    records: Number(facts.records),
    fields: fields.map(({ name, type, format }: Record<string, unknown>) => ({
      name: String(name),
      type: String(format ?? type),
      values: [],
    })),
  };
}
