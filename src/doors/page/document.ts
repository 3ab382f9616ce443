import { z } from 'zod';
import type { Exchange } from '../http/exchange.js';
import type { Route } from '../http/route.js';
import { checkDeclared } from '../rest/storages.js';

/** A passage of a document. */
export interface Passage {
  readonly id: string;
  readonly text: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A part of a document: passages in their order. */
export interface DocumentPart {
  /** Path of the document; undefined for a record that is part of none. */
  readonly path?: string;
  readonly passages: readonly Passage[];
  /** Number of passages of the document before these, and of all. */
  readonly offset: number;
  readonly total: number;
}

/** Most passages of a part. */
const partPassages = 100;

/** Passages of the part before the wanted one. */
const passagesBefore = 20;

/** Passages that are looked at to find the wanted one. */
const searched = 20_000;
const atOnce = 1000;

const query = z.strictObject({
  storage: z.string().min(1),
  id: z.string().min(1),
  /** Passages to skip, instead of the place of the record. */
  offset: z.coerce.number().int().min(0).max(4_294_967_295).optional(),
});

/** The document around a record: the records with its path, in their order. */
export const documentRoute: Route = {
  ...{ method: 'GET', path: '/page/document', right: 'search' },
  operation: 'page_document',
  summary: 'A part of the document of a record.',
  serve: async (exchange) => {
    const wanted = exchange.query(query);
    checkDeclared(exchange.host, wanted.storage, 'storage');
    await exchange.sendJson(await partOf(exchange, wanted));
  },
};

async function partOf(
  exchange: Exchange,
  { storage: name, id, offset }: z.output<typeof query>,
): Promise<DocumentPart> {
  const { session } = exchange;
  const got = await session.call('GetEmbeddedStringStorageRequest', { name, ids: [id] });
  const record = got.records[0];
  if (record === undefined)
    return exchange.refuse(
      404,
      'record_not_found',
      `the storage has no record ${JSON.stringify(id.slice(0, 128))}`,
      'id',
    );
  const path = record.metadata?.path;
  if (typeof path !== 'string') return { passages: [record], offset: 0, total: 1 };
  const filter = { '==': [{ knowledge: 'path' }, path] };
  const list = (from: number, limit: number) =>
    session.call('ListEmbeddedStringStorageRequest', { name, filter, offset: from, limit });
  let at = offset;
  for (let from = 0; at === undefined && from < searched; from += atOnce) {
    const { records, total } = await list(from, atOnce);
    const index = records.findIndex((one) => one.id === id);
    if (index >= 0) at = Math.max(0, from + index - passagesBefore);
    else if (from + records.length >= total) break;
  }
  if (at === undefined) return { path, passages: [record], offset: 0, total: 1 };
  const { records, total } = await list(at, partPassages);
  return { path, passages: records, offset: at, total };
}
