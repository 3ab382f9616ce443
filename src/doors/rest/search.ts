import { z } from 'zod';
import { fail } from '../../protocol/errors.js';
import { requestSchemas, serverSchemas } from '../../protocol/frames.js';
import type { DoorHost } from '../host.js';
import type { Exchange } from '../http/exchange.js';
import { HttpRefusal } from '../http/failure.js';
import type { Route } from '../http/route.js';
import { nothingRelevant } from '../nothing-relevant.js';
import { checkDeclared, declaredNames } from './storages.js';

/** Most storages that one search takes. */
const maxSearched = 16;

const {
  type: _type,
  id: _id,
  session_id: _session,
  ...fields
} = requestSchemas.SearchEmbeddedStringStorageRequest.shape;

/** The fields of a search frame. */
export const searchBody = z.strictObject({
  ...fields,
  name: fields.name.describe('Name of a storage. Default: the only one, or all of up to 16.'),
});

const {
  type: _replyType,
  reply_to: _to,
  ...replyFields
} = serverSchemas.SearchEmbeddedStringStorageResponse.shape;

export const searchReply = z.object({
  ...replyFields,
  message: z.string().optional().describe('Says that nothing relevant was found, if there are no hits.'),
});

export const searchRoute: Route = {
  method: 'POST',
  path: '/v1/search',
  right: 'search',
  operation: 'search',
  summary: 'Searches storages for passages.',
  body: searchBody,
  reply: searchReply,
  serve: search,
};

async function search(exchange: Exchange): Promise<void> {
  const body = await exchange.body(searchBody);
  const { host, session } = exchange;
  const named = body.name !== undefined || body.names !== undefined ? {} : everything(host);
  for (const [field, name] of placesOf({ ...body, ...named })) checkDeclared(host, name, field);
  const { type, reply_to, ...reply } = await session.call('SearchEmbeddedStringStorageRequest', {
    ...body,
    ...named,
  });
  await exchange.sendJson(reply.hits.length === 0 ? { ...reply, message: nothingRelevant } : reply);
}

function placesOf({
  name,
  names = [],
}: {
  name?: string | undefined;
  names?: readonly string[] | undefined;
}) {
  const listed = names.map((each, index) => [`names[${index}]`, each] as const);
  return name === undefined ? listed : [['name', name] as const, ...listed];
}

/** The storages of a search that names none. */
function everything(host: DoorHost): { name: string } | { names: string[] } {
  const names = declaredNames(host);
  const [first] = names;
  if (first === undefined)
    throw new HttpRefusal(
      404,
      'no_storages',
      'this server shows no storages: its config names none in http.storages',
    );
  if (names.length > maxSearched)
    fail(
      1004,
      `name: is missing; the server has ${names.length} storages, and a search takes ${maxSearched}`,
      { path: 'name' },
    );
  return names.length === 1 ? { name: first } : { names };
}
