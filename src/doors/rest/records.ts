import { z } from 'zod';
import { ServerError } from '../../protocol/errors.js';
import { requestSchemas, serverSchemas } from '../../protocol/frames.js';
import { storedRecordSchema } from '../../protocol/records.js';
import type { CallFields } from '../host.js';
import type { Exchange } from '../http/exchange.js';
import type { Route } from '../http/route.js';
import { checkDeclared } from './storages.js';

const records = '/v1/storages/{storage}/records';

/** The fields of a request frame that its body has: the address names the storage. */
function bodyOf<Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape>) {
  const { type, id, session_id, name, ...fields } = shape as Shape & Record<string, z.ZodType>;
  return z.strictObject(fields as Omit<Shape, 'type' | 'id' | 'session_id' | 'name'>);
}

function replyOf<Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape>) {
  const { type, reply_to, ...fields } = shape as Shape & Record<string, z.ZodType>;
  return z.object(fields as Omit<Shape, 'type' | 'reply_to'>);
}

const changesBody = bodyOf(requestSchemas.UpdateEmbeddedStringStorageRequest);
const getBody = bodyOf(requestSchemas.GetEmbeddedStringStorageRequest);
const listBody = bodyOf(requestSchemas.ListEmbeddedStringStorageRequest);
const forgetBody = bodyOf(requestSchemas.ForgetEmbeddedStringStorageRequest);
const changed = replyOf(serverSchemas.UpdateEmbeddedStringStorageResponse);
const listed = replyOf(serverSchemas.ListEmbeddedStringStorageResponse);

type StorageRequest = `${'Update' | 'Get' | 'List' | 'Forget'}EmbeddedStringStorageRequest`;

/** Makes a request to the storage of the address. @throws StorageNotFound; as DoorSession.call() */
async function call<Type extends StorageRequest>(
  exchange: Exchange,
  type: Type,
  fields: Omit<CallFields<Type>, 'name'>,
) {
  const { storage: name = '' } = exchange.params;
  checkDeclared(exchange.host, name, 'storage');
  const given = { ...fields, name } as unknown as CallFields<Type>;
  const { type: _, reply_to, ...reply } = await exchange.session.call(type, given).catch(inStorage);
  return reply;
}

/** Says `storage` in place of `name`: the address names the storage. @throws the error, always */
function inStorage(error: unknown): never {
  if (!(error instanceof ServerError) || error.details.path !== 'name') throw error;
  const details = { ...error.details, path: 'storage' };
  throw new ServerError(error.code, error.name, error.messageAbout('storage'), details);
}

/** A single record is the only one of its batch. */
const ofOneRecord = (path: string) => path.replace(/^(add|remove)\[0\]\.?|^ids$/, '') || 'id';

const asOf = z
  .string()
  .max(64)
  .optional()
  .describe('A version, or the time of one, such as 2024-05-31T12:00:00Z. Default: the newest.');

/** An integer is a version; the frame checks the rest. */
const versionOf = (text: string | undefined) =>
  text === undefined ? {} : { as_of: /^\d{1,15}$/.test(text) ? Number(text) : text };

const limit = z.coerce.number().int().min(1).max(1000).default(100).describe('Most records of the reply.');
const offset = z.coerce.number().int().min(0).max(4_294_967_295).default(0).describe('Records to skip.');
const ifVersion = z.coerce
  .number()
  .int()
  .min(0)
  .optional()
  .describe('Refuses the change unless this is the version of the storage.');

/** The query of a request whose fields are in its body: a condition in the wrong place is refused, not ignored. */
const noQuery = z.strictObject({});

const page: Route = {
  method: 'GET',
  path: records,
  right: 'search',
  operation: 'list_records',
  summary: 'Lists records in their order.',
  query: [
    { name: 'limit', schema: limit },
    { name: 'offset', schema: offset },
    { name: 'as_of', schema: asOf },
  ],
  reply: listed,
  serve: async (exchange) => {
    const {
      limit: most,
      offset: skipped,
      as_of,
    } = exchange.query(z.strictObject({ limit, offset, as_of: asOf }));
    const fields = { limit: most, offset: skipped, ...versionOf(as_of) };
    await exchange.sendJson(await call(exchange, 'ListEmbeddedStringStorageRequest', fields));
  },
};

const recordReply = storedRecordSchema.extend({ version: listed.shape.version });

const one: Route = {
  method: 'GET',
  path: `${records}/{id}`,
  right: 'search',
  operation: 'get_record',
  summary: 'Returns a record.',
  query: [{ name: 'as_of', schema: asOf }],
  reply: recordReply,
  serve: async (exchange) => {
    const { id = '' } = exchange.params;
    const { as_of } = exchange.query(z.strictObject({ as_of: asOf }));
    const fields = { ids: [id], ...versionOf(as_of) };
    const { version, records } = await call(exchange, 'GetEmbeddedStringStorageRequest', fields);
    const [found] = records;
    if (found === undefined)
      return exchange.refuse(
        404,
        'record_not_found',
        `the storage has no record ${JSON.stringify(id.slice(0, 128))}`,
        'id',
      );
    await exchange.sendJson({ ...found, version });
  },
};

const putBody = z.strictObject({
  text: storedRecordSchema.shape.text.meta({ minLength: 1, description: 'Its text; not blank.' }),
  metadata: z.record(z.string(), z.unknown()).optional().describe('Values of the fields of the storage.'),
  if_version: changesBody.shape.if_version,
});

const put: Route = {
  method: 'PUT',
  path: `${records}/{id}`,
  right: 'write',
  operation: 'put_record',
  summary: 'Adds a record, or replaces the record with this id.',
  body: putBody,
  reply: changed,
  fieldNames: ofOneRecord,
  serve: async (exchange) => {
    const { id = '' } = exchange.params;
    exchange.query(noQuery);
    const { if_version, ...record } = await exchange.body(putBody);
    const fields = {
      add: [{ id, ...record }],
      upsert: true,
      ...(if_version !== undefined && { if_version }),
    };
    await exchange.sendJson(await call(exchange, 'UpdateEmbeddedStringStorageRequest', fields as never));
  },
};

const remove: Route = {
  method: 'DELETE',
  path: `${records}/{id}`,
  right: 'write',
  operation: 'remove_record',
  summary: 'Removes a record. Older versions of the storage keep it; forget_records removes it for good.',
  query: [{ name: 'if_version', schema: ifVersion }],
  reply: changed,
  fieldNames: ofOneRecord,
  serve: async (exchange) => {
    const { id = '' } = exchange.params;
    const { if_version } = exchange.query(z.strictObject({ if_version: ifVersion }));
    const fields = { remove: [id], ...(if_version !== undefined && { if_version }) };
    await exchange.sendJson(await call(exchange, 'UpdateEmbeddedStringStorageRequest', fields));
  },
};

/** A route whose body has the fields of a frame. */
function framed<Type extends StorageRequest>(
  type: Type,
  body: z.ZodType,
  route: Pick<Route, 'path' | 'right' | 'operation' | 'summary' | 'reply'>,
): Route {
  return {
    ...route,
    method: 'POST',
    body,
    serve: async (exchange) => {
      exchange.query(noQuery);
      const fields = (await exchange.body(body)) as Omit<CallFields<Type>, 'name'>;
      await exchange.sendJson(await call(exchange, type, fields));
    },
  };
}

export const recordRoutes: readonly Route[] = [
  page,
  one,
  put,
  remove,
  framed('UpdateEmbeddedStringStorageRequest', changesBody, {
    path: records,
    right: 'write',
    operation: 'change_records',
    summary: 'Adds, replaces and removes records as one batch, which is applied whole or not at all.',
    reply: changed,
  }),
  framed('GetEmbeddedStringStorageRequest', getBody, {
    path: `${records}/get`,
    right: 'search',
    operation: 'get_records',
    summary: 'Returns records by their ids.',
    reply: replyOf(serverSchemas.GetEmbeddedStringStorageResponse),
  }),
  framed('ListEmbeddedStringStorageRequest', listBody, {
    path: `${records}/list`,
    right: 'search',
    operation: 'find_records',
    summary: 'Lists the records that match a filter.',
    reply: listed,
  }),
  framed('ForgetEmbeddedStringStorageRequest', forgetBody, {
    path: `${records}/forget`,
    right: 'write',
    operation: 'forget_records',
    summary: 'Removes records for good: from all versions, from memory and from disk.',
    reply: replyOf(serverSchemas.ForgetEmbeddedStringStorageResponse),
  }),
];
