import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readKeys } from '../../src/config/keys-file.js';
import { configSchema } from '../../src/config/schema.js';
import { certificateFiles } from './certificate-files.js';
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

it.skipIf(process.platform === 'win32')(
  'the files of keys, certificates, passwords and graphs are closed to every request by path, under any name',
  async () => {
    const keys_file = keysFile({ one: ['files', 'search', 'chat'] });
    const folder = dirname(keys_file);
    const write = (name: string, text = 'a line of a secret\n') => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const tls = certificateFiles();
    const tls_cert = write('cert.pem', readFileSync(tls.tls_cert, 'utf8'));
    const tls_key = write('key.pem', readFileSync(tls.tls_key, 'utf8'));
    const remote = {
      url: 'https://models.example/v1',
      model: 'far',
      key_file: 'remote-key',
      ca_file: 'remote.ca',
    };
    const far = { name: 'far', model_type: 'embedding', variants: [{ context_size: 200, remote }] };
    const config = {
      models_catalog_path: write('models.json', JSON.stringify({ version: 1, models: [far] })),
      access_token_file: write('token', 'the-access-token-0123456789'),
      session_folders: [folder],
      connections: {
        base: {
          hosts: ['127.0.0.1'],
          database: 'd',
          user: 'u',
          serves: ['s'],
          password_file: 'password',
          ca_file: 'base.ca',
        },
      },
    };
    for (const name of ['remote-key', 'remote.ca', 'password', 'base.ca', 'open.txt']) write(name);
    const agents = { helper: write('helper.json', JSON.stringify({ nodes: [{ id: 'a', type: 'quote' }] })) };
    const opened = await door(
      { keys_file, tls_cert, tls_key, agents },
      { config, configFile: write('server.json', '{}') },
    );
    const raw = await opened.server.raw();
    const { session_id } = await raw.request<never>({
      ...{ type: 'CreateSessionRequest', id: 1, access_token: 'the-access-token-0123456789' },
      storage_data_folder: folder,
    });
    mkdirSync(join(folder, 'sub'));
    let id = 2;
    const read = async (path: string) => {
      const graph = { nodes: [{ id: 'a', type: 'canned_response', params: { string_storage: path } }] };
      const reply = await raw.request<never>({ type: 'CreateAgentRequest', id: id++, session_id, graph });
      return (reply as { code?: number }).code;
    };
    const secrets = [
      'keys.json',
      'cert.pem',
      'key.pem',
      'token',
      'models.json',
      'helper.json',
      'server.json',
    ];
    for (const name of [...secrets, 'remote-key', 'remote.ca', 'password', 'base.ca', 'open.txt']) {
      symlinkSync(name, join(folder, `soft-${name}`));
      symlinkSync(join('..', `soft-${name}`), join(folder, 'sub', `twice-${name}`));
      linkSync(join(folder, name), join(folder, `hard-${name}`));
      const ways = [name, `./${name}`, `sub/../${name}`, `sub//..//${name}`];
      const links = [`soft-${name}`, `sub/twice-${name}`, `hard-${name}`];
      const expected = name === 'open.txt' ? undefined : 3010;
      for (const path of [...ways, ...links]) expect([path, await read(path)]).toEqual([path, expected]);
      // Other spellings name no file.
      const encoded = [`%2e/${name}`, encodeURIComponent(name).replace('.', '%2e'), `${name}.`, `${name} `];
      for (const path of [...encoded, name.toUpperCase()].filter((other) => other !== name))
        expect([path, await read(path)]).toEqual([path, 3010]);
    }
  },
);

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

it('a config that is read again replaces the keys, and never opens the doors to other machines', async () => {
  const keys_file = keysFile({ old: ['search'] });
  const http = { enabled: true, allow_remote: true, bind: '127.0.0.1' };
  const { call, server } = await door({ ...http, keys_file });
  const status = async (headers = {}) => (await call('GET', '/v1/storages', undefined, headers)).status;
  const reload = (fields: object) =>
    server.server.reload({
      config: configSchema.parse({ http: { ...http, ...fields } }),
      sources: new Map([['http.keys_file', 'the file']]),
    });
  expect(await status(bearer(secret('old')))).toBe(200);
  await reload({ keys_file: keysFile({ new: ['search'] }) });
  expect([await status(bearer(secret('old'))), await status(bearer(secret('new')))]).toEqual([401, 200]);
  await expect(reload({})).rejects.toThrow(/^http\.allow_remote: .*http\.keys_file/);
  expect([await status(), await status(bearer(secret('new')))]).toEqual([401, 200]);
});

it('a keys file that is absent ends the start', async () => {
  const path = keysFile({ one: ['search'] });
  rmSync(path);
  await expect(door({ keys_file: path })).rejects.toThrow('http.keys_file');
});
