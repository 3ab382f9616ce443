import { expect, it } from 'vitest';
import { corpus } from '../server/corpus.js';
import { door } from './door-setting.js';

it('a search finds what a TCP client finds, and names the plan', async () => {
  const { call } = await door();
  const { text, question } = corpus[3] as (typeof corpus)[number];
  const reply = await call('POST', '/v1/search', { name: 'docs', text: question, top_k: 2, highlight: true });
  expect(reply.status).toBe(200);
  const { hits, plan } = reply.json();
  expect(hits[0]).toMatchObject({ id: 'r3', text, rank: 1 });
  expect(hits).toHaveLength(2);
  expect(hits[0].metadata.big).toMatch(/^9007199254741\d{3}$/);
  expect(plan.mode).toBe('dense');
});

it('a search without a name searches the only storage', async () => {
  const { call } = await door();
  const reply = await call('POST', '/v1/search', { text: 'bees' });
  expect(reply.json().hits.length).toBeGreaterThan(0);
});

it('fields that are null count as absent', async () => {
  const { call } = await door({}, { config: { storage_writes: 'files' } }, true);
  const status = async (method: string, path: string, body: object) =>
    (await call(method, path, body)).status;
  const nothing = { name: null, filter: null, top_k: null, mode: null, highlight: null };
  expect(await status('POST', '/v1/search', { text: 'bees', ...nothing })).toBe(200);
  const at = '/v1/storages/docs/records';
  expect(await status('POST', `${at}/list`, { filter: null, limit: null, offset: null })).toBe(200);
  expect(await status('PUT', `${at}/new`, { text: 'New.', metadata: null, if_version: null })).toBe(200);
  expect(await status('POST', at, { remove: ['new'], add: null, upsert: null })).toBe(200);
  expect((await call('DELETE', `${at}/new`)).json().error.param).toBe('id');
  const { error } = (await call('POST', '/v1/search', { text: null })).json();
  expect(error).toMatchObject({ param: 'text', message: 'text: is missing' });
});

it('a body that is no JSON object is refused as a body', async () => {
  const { call } = await door();
  for (const [body, message] of [
    ['', 'the body: is empty; a JSON object is expected'],
    ['{"text"', 'the body: not valid JSON: it ends where'],
    ['[1]', 'the body: a JSON object is expected'],
  ] as const) {
    const { status, json } = await call('POST', '/v1/search', body);
    expect([status, json().error.message]).toEqual([400, expect.stringContaining(message)]);
  }
});

it('storages and their records are listed and read', async () => {
  const { call } = await door();
  expect((await call('GET', '/v1/storages')).json()).toEqual({ storages: [{ name: 'docs' }] });
  const one = (await call('GET', '/v1/storages/docs')).json();
  expect(one).toMatchObject({
    name: 'docs',
    records: corpus.length,
    version: 0,
    writable: false,
    fields: [{ name: 'n' }, { name: 'big' }],
  });
  const page = (await call('GET', '/v1/storages/docs/records?limit=2&offset=1')).json();
  expect(page.records.map(({ id }: { id: string }) => id)).toEqual(['r1', 'r2']);
  expect(page).toMatchObject({ total: corpus.length, version: 0 });
  expect(page.records[0].metadata).toEqual({ n: 1, big: '9007199254741103' });
  expect((await call('GET', '/v1/storages/docs/records/r4')).json()).toMatchObject({
    id: 'r4',
    text: corpus[4]?.text,
  });
});

it.each([
  ['POST', '/v1/search', { name: 'dacs', text: 'x' }, 404, 'storage_not_found', /did you mean "docs"/],
  [
    'POST',
    '/v1/search',
    { name: 'docs/kb.json', text: 'x' },
    404,
    'storage_not_found',
    /there is no storage/,
  ],
  [
    'POST',
    '/v1/search',
    { name: '../docs/kb.json', text: 'x' },
    404,
    'storage_not_found',
    /there is no storage/,
  ],
  ['POST', '/v1/search', { name: '__proto__', text: 'x' }, 404, 'storage_not_found', /there is no storage/],
  ['POST', '/v1/search', { name: 'constructor', text: 'x' }, 404, 'storage_not_found', /there is no storage/],
  ['POST', '/v1/search', { text: 'x', top_kk: 1 }, 400, 'invalid_field', /^top_kk: .*top_k/],
  ['POST', '/v1/search', { text: 7 }, 400, 'invalid_field', /^text: a string is expected, not 7$/],
  ['POST', '/v1/search', '{"text": "x", "text": "y"}', 400, 'invalid_field', /text/],
  ['POST', '/v1/search', '{"__proto__": {}, "text": "y"}', 400, 'invalid_field', /__proto__/],
  ['POST', '/v1/search', '[1]', 400, 'malformed_frame', /a JSON object is expected/],
  ['POST', '/v1/search', '{"text": "x"', 400, 'malformed_frame', /./],
  ['POST', '/v1/search', '['.repeat(200), 400, 'malformed_frame', /./],
  ['GET', '/v1/storages/docs/records?limit=0', undefined, 400, 'invalid_field', /^limit/],
  ['GET', '/v1/storages/docs/records?limitt=1', undefined, 400, 'invalid_field', /^limitt/],
  [
    'GET',
    '/v1/storages/docs/records?limit=1&limit=2',
    undefined,
    400,
    'invalid_field',
    /^limit: occurs twice$/,
  ],
  ['GET', '/v1/storages/docs/records/absent', undefined, 404, 'record_not_found', /"absent"/],
  ['GET', '/v1/storages/docs%2fkb.json', undefined, 404, 'storage_not_found', /./],
  ['GET', '/v1/storages/%ff', undefined, 404, 'unknown_url', /./],
  ['GET', '/v1/search', undefined, 405, 'method_not_allowed', /POST is expected/],
  ['GET', '/nothing', undefined, 404, 'unknown_url', /openapi.json/],
])('%s %s %j is refused', async (method, path, body, status, code, message) => {
  const { call } = await door();
  const reply = await call(method, path, body);
  expect({ status: reply.status, code: reply.json().error.code }).toEqual({ status, code });
  expect(reply.json().error.message).toMatch(message);
});

it('the OpenAPI document lists every address, with the fields of the schemas', async () => {
  const { call } = await door();
  const document = (await call('GET', '/openapi.json')).json();
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths)).toContain('/v1/storages/{storage}/records/{id}');
  const { schema } = document.paths['/v1/search'].post.requestBody.content['application/json'];
  expect(schema.properties.top_k.description).toBeTypeOf('string');
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path as object).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

it('the doors are closed by default', async () => {
  const { server } = await door({ enabled: false });
  expect(server.server.httpPort).toBeUndefined();
});
