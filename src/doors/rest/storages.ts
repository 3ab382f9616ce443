import { z } from 'zod';
import { didYouMean, nearestName } from '../../base/schema/nearest.js';
import { fail } from '../../protocol/errors.js';
import type { DoorHost } from '../host.js';
import type { Exchange } from '../http/exchange.js';
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
  dimension: z.int().describe('Dimension of the embeddings.'),
  fields: z
    .array(z.object({ name: z.string().describe('Name.'), type: z.string().describe('Type.') }))
    .describe('Fields of the metadata.'),
});

const metadata = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('The metadata; integers beyond 2^53 as decimal strings.');

const recordSchema = z.object({
  id: z.string().describe("The record's id."),
  text: z.string().describe("The record's text."),
  metadata,
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
  serve: (exchange) =>
    withStorage(exchange, async (storage, name) => {
      const { size, dimension } = storage;
      const fields = (storage.storage.fields ?? []).map(({ name, type }) => ({ name, type }));
      await exchange.sendJson({ name, records: size, dimension, fields });
    }),
};

const limit = z.coerce.number().int().min(1).max(1000).default(100).describe('Most records of the reply.');
const offset = z.coerce.number().int().min(0).max(4_294_967_295).default(0).describe('Records to skip.');
const paging = z.strictObject({ limit, offset });

const list: Route = {
  method: 'GET',
  path: '/v1/storages/{storage}/records',
  right: 'search',
  operation: 'list_records',
  summary: 'Lists records in their order.',
  query: [
    { name: 'limit', schema: limit },
    { name: 'offset', schema: offset },
  ],
  reply: z.object({
    records: z.array(recordSchema).describe('The records.'),
    total: z.int().describe('Number of records of the storage.'),
  }),
  serve: (exchange) => {
    const page = exchange.query(paging);
    return withStorage(
      exchange,
      async (storage) => {
        const records = await storage.storage.list({ ...page, signal: exchange.session.signal });
        await exchange.sendJson({ records: records.map(shown), total: storage.size });
      },
      page.limit,
    );
  },
};

const record: Route = {
  method: 'GET',
  path: '/v1/storages/{storage}/records/{id}',
  right: 'search',
  operation: 'get_record',
  summary: 'Returns a record.',
  reply: recordSchema,
  serve: (exchange) =>
    withStorage(exchange, async (storage) => {
      const { id = '' } = exchange.params;
      const found = await storage.storage.get(id, { signal: exchange.session.signal });
      if (found === undefined)
        return exchange.refuse(
          404,
          'record_not_found',
          `the storage has no record ${JSON.stringify(id.slice(0, 128))}`,
          'id',
        );
      await exchange.sendJson(shown(found));
    }),
};

export const storageRoutes: readonly Route[] = [names, one, list, record];

type Pinned = Awaited<ReturnType<Exchange['session']['pin']>>['value'];

async function withStorage(
  exchange: Exchange,
  work: (storage: Pinned, name: string) => Promise<void>,
  records = 1,
): Promise<void> {
  const { storage = '' } = exchange.params;
  checkDeclared(exchange.host, storage, 'storage');
  const pin = await exchange.session.pin(storage, 'storage');
  try {
    const sending = await exchange.client.account.send(exchange.session.signal);
    try {
      const { bytes, size } = pin.value;
      const native = Math.ceil((bytes / Math.max(1, size)) * records);
      await sending.reserve({ heap: 0, native }, exchange.session.signal);
      await work(pin.value, storage);
    } finally {
      sending.end();
    }
  } finally {
    await pin.release();
  }
}

function shown({ id, text, metadata }: { id: string; text: string; metadata?: object }) {
  if (metadata === undefined) return { id, text };
  const entries = Object.entries(metadata).map(([key, value]) => [
    key,
    typeof value === 'bigint' ? String(value) : value,
  ]);
  return { id, text, metadata: Object.fromEntries(entries) };
}
