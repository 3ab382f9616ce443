import { z } from 'zod';
import { didYouMean, nearestName } from '../../base/schema/nearest.js';
import { fail } from '../../protocol/errors.js';
import type { DoorHost } from '../host.js';
import type { Route } from '../http/route.js';

/** Names of the storages that the doors show, in the config's order. */
export const declaredNames = (host: DoorHost): string[] => Object.keys(host.config.http.storages);

/** Checks that the doors show a storage: nothing else can be named. @throws StorageNotFound with the nearest name */
export function checkDeclared(host: DoorHost, name: string, where: string): void {
  const names = declaredNames(host);
  if (names.includes(name)) return;
  const nearest = nearestName(name, names);
  const shown = JSON.stringify(name.slice(0, 128));
  fail(8005, `${where}: there is no storage ${shown}${didYouMean(nearest)}`, { path: where, nearest });
}

const storageSchema = z.object({
  name: z.string().describe('Name of the storage.'),
  records: z.int().describe('Number of records.'),
  version: z.int().describe('Version. Each batch of changes makes the next one.'),
  writable: z.boolean().describe('Whether this client may change it.'),
  dimension: z.int().describe('Dimension of the embeddings.'),
  fields: z
    .array(z.object({ name: z.string().describe('Name.'), type: z.string().describe('Type.') }))
    .describe('Fields of the metadata.'),
});

const names: Route = {
  method: 'GET',
  path: '/v1/storages',
  right: 'search',
  operation: 'list_storages',
  summary: 'Lists the storages.',
  reply: z.object({
    storages: z
      .array(z.object({ name: z.string().describe('Name of the storage.') }))
      .describe('The storages.'),
  }),
  serve: (exchange) =>
    exchange.sendJson({ storages: declaredNames(exchange.host).map((name) => ({ name })) }),
};

const one: Route = {
  method: 'GET',
  path: '/v1/storages/{storage}',
  right: 'search',
  operation: 'get_storage',
  summary: 'Describes a storage; loads it if it is not in memory.',
  reply: storageSchema,
  serve: async (exchange) => {
    const { storage: name = '' } = exchange.params;
    const { host, session } = exchange;
    checkDeclared(host, name, 'storage');
    const pin = await session.pin(name, 'storage');
    try {
      const { size, dimension, version, storage } = pin.value;
      const fields = (storage.fields ?? []).map(({ name, type }) => ({ name, type }));
      const writable = session.mayChange(name);
      await exchange.sendJson({ name, records: size, version, writable, dimension, fields });
    } finally {
      await pin.release();
    }
  },
};

export const storageRoutes: readonly Route[] = [names, one];
