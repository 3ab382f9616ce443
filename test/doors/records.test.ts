import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { corpus } from '../server/corpus.js';
import { type Door, door, type Json } from './door-setting.js';
import { keysFile, SocketClient, secret } from './web-socket.js';

const at = '/v1/storages/docs/records';
const ferry = { text: 'The ferry leaves on Tuesdays.', metadata: { n: 77 } };

const open = (config: object = {}, http: object = {}, writable = true) =>
  door(http, { config: { storage_writes: 'files', ...config } }, writable);

const textOf = async ({ call }: Door, id: string, asOf = '') =>
  (await call('GET', `${at}/${id}${asOf && `?as_of=${asOf}`}`)).json().text;

it('records are put, replaced and removed one by one, and searches find what there is', async () => {
  const opened = await open();
  const { call } = opened;
  expect((await call('GET', '/v1/storages/docs')).json()).toMatchObject({ version: 0, writable: true });
  const added = await call('PUT', `${at}/ferry%2Fgozo`, ferry);
  expect([added.status, added.json()]).toEqual([
    200,
    { version: 1, added: 1, replaced: 0, removed: 0, record_count: corpus.length + 1 },
  ]);
  expect((await call('GET', `${at}/ferry%2Fgozo`)).json()).toMatchObject({
    id: 'ferry/gozo',
    ...ferry,
    version: 1,
  });
  const search = { text: 'ferry Tuesdays', mode: 'lexical', top_k: 1 };
  expect((await call('POST', '/v1/search', search)).json()).toMatchObject({
    version: 1,
    hits: [{ id: 'ferry/gozo' }],
  });
  const replaced = await call('PUT', `${at}/ferry%2Fgozo`, { text: 'It sails on Fridays.', if_version: 1 });
  expect(replaced.json()).toMatchObject({ version: 2, replaced: 1 });
  expect((await call('DELETE', `${at}/ferry%2Fgozo?if_version=2`)).json()).toMatchObject({
    version: 3,
    removed: 1,
    record_count: corpus.length,
  });
  expect((await call('GET', `${at}/ferry%2Fgozo`)).status).toBe(404);
  expect(await textOf(opened, 'ferry%2Fgozo', '1')).toBe(ferry.text);
});

it('a batch is one version, and is on disk when it is answered', async () => {
  const { call, folder } = await open();
  const batch = {
    add: [{ id: 'ferry', ...ferry }],
    replace: [{ id: 'r1', text: 'Anew.' }],
    remove: ['r2'],
    if_version: 0,
  };
  expect((await call('POST', at, batch)).json()).toMatchObject({
    version: 1,
    added: 1,
    replaced: 1,
    removed: 1,
  });
  expect(readFileSync(join(folder, 'docs', 'kb-records.json.changes')).includes('ferry leaves')).toBe(true);
  const got = (await call('POST', `${at}/get`, { ids: ['ferry', 'r2', 'r1'] })).json();
  expect(got).toMatchObject({
    version: 1,
    missing: ['r2'],
    records: [{ id: 'ferry' }, { id: 'r1', text: 'Anew.' }],
  });
  const filter = { '>=': [{ knowledge: 'n' }, { variable: 'least' }] };
  const found = (await call('POST', `${at}/list`, { filter, variables: { least: 70 }, limit: 1 })).json();
  expect(found).toMatchObject({ version: 1, total: 1, records: [{ id: 'ferry' }] });
});

it('reads and searches answer as of a version or a time', async () => {
  const opened = await open();
  const { call } = opened;
  const before = corpus[3]?.text as string;
  await call('PUT', `${at}/r3`, { text: 'One.' });
  const time = new Date().toISOString();
  await call('PUT', `${at}/r3`, { text: 'Two.' });
  expect(await textOf(opened, 'r3')).toBe('Two.');
  expect(await textOf(opened, 'r3', '0')).toBe(before);
  expect(['One.', 'Two.']).toContain(await textOf(opened, 'r3', encodeURIComponent(time)));
  const page = (await call('GET', `${at}?as_of=1&limit=1000`)).json();
  expect(page).toMatchObject({ version: 1, total: corpus.length });
  expect(page.records.find(({ id }: Json) => id === 'r3').text).toBe('One.');
  const search = { text: before, mode: 'dense', top_k: 1, as_of: 0 };
  expect((await call('POST', '/v1/search', search)).json()).toMatchObject({
    version: 0,
    hits: [{ text: before }],
  });
  const gone = await call('GET', `${at}/r3?as_of=9`);
  expect([gone.status, gone.json().error.code]).toEqual([410, 'version_gone']);
  const wrong = await call('GET', `${at}/r3?as_of=yesterday`);
  expect([wrong.status, wrong.json().error.param]).toEqual([400, 'as_of']);
});

it('forgetting removes a record from all versions and from the files', async () => {
  const { call, folder } = await open();
  await call('PUT', `${at}/secret`, { text: 'The password of Ada is Quagga.' });
  await call('PUT', `${at}/other`, { text: 'Something else.' });
  const reply = await call('POST', `${at}/forget`, { ids: ['secret'] });
  expect(reply.json()).toMatchObject({ forgotten: 1, record_count: corpus.length + 1 });
  for (const as_of of ['', '?as_of=1', '?as_of=2'])
    expect((await call('GET', `${at}/secret${as_of}`)).status, as_of).toBeGreaterThanOrEqual(404);
  const files = ['kb-records.json.changes', 'kb-records.json'].map((name) => {
    try {
      return readFileSync(join(folder, 'docs', name), 'utf8');
    } catch {
      return '';
    }
  });
  expect(files.join()).not.toContain('Quagga');
});

it.each([
  ['POST', at, { add: [{ id: 'r1', text: 'x' }] }, 409, 'record_exists', /r1/],
  ['POST', at, { replace: [{ id: 'no', text: 'x' }] }, 404, 'record_not_found', /no/],
  ['POST', at, { add: [{ id: 'a', text: 'x' }], remove: ['a'] }, 400, 'duplicate_record_id', /a/],
  ['POST', at, { add: [], if_version: 7 }, 409, 'version_mismatch', /7/],
  ['POST', at, { add: [{ id: 'a', text: 7 }] }, 400, 'invalid_field', /^add\[0\]\.text/],
  ['POST', at, { add: [], name: 'docs' }, 400, 'invalid_field', /^name/],
  [
    'POST',
    `${at}/list`,
    { filter: { '>': [{ knowledge: 'm' }, 1] } },
    400,
    'invalid_field',
    /^filter: .*"m"/,
  ],
  [
    'POST',
    `${at}/list`,
    { filter: { '>': [{ knowledge: 'n' }, { variable: 'x' }] } },
    400,
    'invalid_field',
    /^filter/,
  ],
  ['POST', `${at}/get`, { ids: Array.from({ length: 1001 }, () => 'a') }, 400, 'invalid_field', /^ids/],
  ['PUT', `${at}/a`, { text: '' }, 400, 'invalid_field', /^text/],
  [
    'PUT',
    `${at}/a`,
    { text: 'x', metadata: { n: 'soon' } },
    400,
    'invalid_embedded_string_storage_data',
    /n/,
  ],
  ['PUT', `${at}/a`, { text: 'x', id: 'b' }, 400, 'invalid_field', /^id/],
  ['DELETE', `${at}/no`, undefined, 404, 'record_not_found', /no/],
  ['PUT', `${at}/r1?if_version=2`, { text: 'a' }, 400, 'invalid_field', /^if_version/],
  ['POST', `${at}?if_version=2`, { add: [] }, 400, 'invalid_field', /^if_version/],
  ['DELETE', `${at}/r1?if_version=x`, undefined, 400, 'invalid_field', /^if_version/],
  ['POST', `${at}/forget`, { ids: ['no'] }, 404, 'record_not_found', /no/],
  [
    'PUT',
    '/v1/storages/dacs/records/a',
    { text: 'x' },
    404,
    'storage_not_found',
    /^storage: .*did you mean "docs"/,
  ],
  ['PUT', '/v1/storages/docs%2Fkb.json/records/a', { text: 'x' }, 404, 'storage_not_found', /^storage/],
])('%s %s %j is refused, and changes nothing', async (method, path, body, status, code, message) => {
  const { call } = await open();
  const reply = await call(method, path, body);
  expect({ status: reply.status, code: reply.json().error.code }).toEqual({ status, code });
  expect(reply.json().error.message).toMatch(message);
  expect((await call('GET', '/v1/storages/docs')).json()).toMatchObject({
    version: 0,
    records: corpus.length,
  });
});

it.each([
  ['a base that is not writable', {}, false, /http\.storages/],
  ['storage_writes "own"', { storage_writes: 'own' }, true, /storage_writes/],
  ['storage_writes "none"', { storage_writes: 'none' }, true, /storage_writes/],
  ['read_only_storages', { read_only_storages: true }, true, /read_only_storages/],
])('%s is changed by nobody', async (_, config, writable, message) => {
  const { call } = await open(config, {}, writable);
  expect((await call('GET', '/v1/storages/docs')).json()).toMatchObject({ writable: false });
  for (const [method, path, body] of [
    ['PUT', `${at}/a`, ferry],
    ['POST', at, { remove: ['r1'] }],
    ['DELETE', `${at}/r1`, undefined],
    ['POST', `${at}/forget`, { ids: ['r1'] }],
  ] as const) {
    const reply = await call(method, path, body);
    expect([reply.status, reply.json().error.code], path).toEqual([403, 'storage_not_writable']);
    expect(reply.json().error.message).toMatch(message);
  }
});

it('a key changes records only with the right "write"', async () => {
  const keys_file = keysFile({ reader: ['search', 'chat', 'files'], writer: ['search', 'write'] });
  const { call } = await open({}, { keys_file });
  const as = (name: string) => ({ authorization: `Bearer ${secret(name)}` });
  const refused = await call('PUT', `${at}/a`, ferry, as('reader'));
  expect([refused.status, refused.json().error.code]).toEqual([403, 'right_missing']);
  expect((await call('GET', '/v1/storages/docs', undefined, as('reader'))).json().writable).toBe(false);
  expect((await call('GET', '/v1/storages/docs', undefined, as('writer'))).json().writable).toBe(true);
  expect((await call('PUT', `${at}/a`, ferry, as('writer'))).status).toBe(200);
});

it('a WebSocket changes what its key and http.storages allow, and nothing else', async () => {
  const keys_file = keysFile({ reader: ['search'], writer: ['search', 'write'] });
  const { port } = await open({}, { keys_file });
  const change = { type: 'UpdateEmbeddedStringStorageRequest', name: 'docs', add: [{ id: 'a', ...ferry }] };
  const reader = await SocketClient.open(port);
  await reader.begin(secret('reader'));
  expect(await reader.request({ id: 2, session_id: reader.session, ...change })).toMatchObject({
    code: 2013,
  });
  const writer = await SocketClient.open(port);
  await writer.begin(secret('writer'));
  expect(await writer.request({ id: 2, session_id: writer.session, ...change })).toMatchObject({
    version: 1,
  });
  const byPath = { id: 3, session_id: writer.session, ...change, name: 'docs/kb.json' };
  expect(await writer.request(byPath)).toMatchObject({ type: 'Error', code: 2013 });
});
