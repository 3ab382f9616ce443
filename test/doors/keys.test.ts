import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readKeys } from '../../src/config/keys-file.js';
import { door } from './door-setting.js';
import { keysFile, secret } from './web-socket.js';

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

it('a key opens the routes of its rights, and no others', async () => {
  const keys_file = keysFile({ searcher: ['search'], talker: ['chat'] });
  const { call } = await door({ keys_file });
  const search = { name: 'docs', text: 'bees' };
  const status = async (path: string, body: object, headers = {}) =>
    (await call('POST', path, body, headers)).status;
  expect(await status('/v1/search', search)).toBe(401);
  expect(await status('/v1/search', search, bearer(secret('searcher')))).toBe(200);
  expect(await status('/v1/search', search, bearer(secret('talker')))).toBe(403);
  const chat = { model: 'nobody', messages: [{ role: 'user', content: 'Hi' }] };
  expect(await status('/v1/chat/completions', chat, bearer(secret('searcher')))).toBe(403);
  expect(await status('/v1/chat/completions', chat, bearer(secret('talker')))).toBe(404);
  expect((await call('GET', '/v1/models')).status).toBe(401);
  expect((await call('GET', '/openapi.json')).status).toBe(200);
});

it('a refusal names the header, asks for a key, and repeats no secret', async () => {
  const { call } = await door({ keys_file: keysFile({ one: ['search'] }) });
  const missing = await call('GET', '/v1/storages');
  expect(missing.headers['www-authenticate']).toBe('Bearer');
  expect(missing.json().error).toMatchObject({
    type: 'authentication_error',
    param: 'Authorization',
    message: expect.stringMatching(/^Authorization: is missing/),
  });
  const wrong = await call('GET', '/v1/storages', undefined, bearer('not-the-right-key-1234'));
  expect([wrong.status, wrong.text.includes('not-the-right')]).toEqual([401, false]);
});

it('guesses are limited: further ones are answered with 429 and a time', async () => {
  const { call } = await door({ keys_file: keysFile({ one: ['search'] }) });
  let reply = await call('GET', '/v1/storages', undefined, bearer('guess-0000000000000000'));
  for (let n = 0; n < 20 && reply.status === 401; n++)
    reply = await call('GET', '/v1/storages', undefined, bearer(`guess-${n}-00000000000000`));
  expect(reply.status).toBe(429);
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
});

it('the access token has all rights at the doors, and a key has none at the TCP port', async () => {
  const keys_file = keysFile({ one: ['search', 'files'] });
  const token = `${keys_file}.token`;
  writeFileSync(token, 'the-access-token-0123456789', { mode: 0o600 });
  const { call, server } = await door({ keys_file }, { config: { access_token_file: token } });
  expect((await call('GET', '/v1/storages', undefined, bearer('the-access-token-0123456789'))).status).toBe(
    200,
  );
  const raw = await server.raw();
  const reply = await raw.request<never>({
    type: 'CreateSessionRequest',
    id: 1,
    access_token: secret('one'),
  });
  expect(reply).toMatchObject({ type: 'Error', code: 2011 });
});

it('keys, certificates and their files are closed to every request by path', async () => {
  const keys_file = keysFile({ one: ['files', 'search'] });
  const { server } = await door({ keys_file });
  const raw = await server.raw();
  const { session_id } = await raw.request<never>({
    type: 'CreateSessionRequest',
    id: 1,
    storage_data_folder: keys_file.slice(0, keys_file.lastIndexOf('/')),
  });
  const graph = { nodes: [{ id: 'a', type: 'canned_response', params: { string_storage: 'keys.json' } }] };
  expect(await raw.request<never>({ type: 'CreateAgentRequest', id: 2, session_id, graph })).toMatchObject({
    type: 'Error',
    code: 3010,
  });
});

it.each([
  ['{"keys": []}', /keys/],
  ['{"keys": [{"name": "a", "key": "short", "rights": ["search"]}]}', /keys\[0\]\.key: a string of 16/],
  ['{"keys": [{"name": "a", "key": "long-enough-0123456789", "rights": ["all"]}]}', /keys\[0\]\.rights\[0\]/],
  ['{"keys": [{"name": "a", "key": "long-enough-0123456789", "rights": ["search"], "more": 1}]}', /more/],
  [
    '{"keys": [{"name": "a", "key": "long-enough-0123456789", "rights": ["search"]}, {"name": "a", "key": "other-enough-0123456789", "rights": ["chat"]}]}',
    /keys\[1\]\.name: is used twice/,
  ],
  ['not json with long-enough-0123456789', /is not JSON$/],
])('the keys file %s is refused without its secrets', async (text, message) => {
  const path = keysFile({ one: ['search'] });
  writeFileSync(path, text);
  const failure = await readKeys(path, 'http.keys_file').catch((error: Error) => error.message);
  expect(failure).toMatch(message);
  expect(failure).not.toMatch(/long-enough|short/);
});

it.skipIf(process.platform === 'win32')('a keys file that others may read is warned of', async () => {
  const path = keysFile({ one: ['search'] });
  chmodSync(path, 0o644);
  expect((await readKeys(path, 'http.keys_file')).warnings).toEqual([expect.stringMatching(/chmod 600/)]);
});

it('a keys file that is absent ends the start', async () => {
  const path = keysFile({ one: ['search'] });
  rmSync(path);
  await expect(door({ keys_file: path })).rejects.toThrow('http.keys_file');
});
