import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { call } from '../doors/door-setting.js';
import { keysFile, secret } from '../doors/web-socket.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus, dimension } from '../server/corpus.js';
import { TestServer, type TestServerOptions } from '../server/test-server.js';

const inFolder = temporaryFolder();
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const json = { 'content-type': 'application/json' };

/** A server with a monitor, one storage that a session uses, and ways to look and act. */
async function setting({ config, ...options }: TestServerOptions = {}) {
  mkdirSync(inFolder('root'), { recursive: true });
  const records = corpus.map(({ text }, n) => ({ id: `r${n}`, text }));
  writeFileSync(inFolder('root', 'records.json'), JSON.stringify(records));
  const base = { embedding_model: 'tiny', records_file: 'records.json' };
  writeFileSync(inFolder('root', 'kb.json'), JSON.stringify(base));
  const monitor = { enabled: true, port: 0 };
  const server = await TestServer.start({
    ...options,
    config: { storage_root: inFolder('root'), monitor, ...config },
  });
  const port = server.server.monitorPort as number;
  const act = async (path: string, name: unknown, headers = {}) => {
    const reply = await call(port, 'POST', `/api/${path}`, { name }, headers);
    return [reply.status, reply.json().error] as const;
  };
  const state = async () => (await call(port, 'GET', '/api/state')).json();
  return { server, port, act, state };
}

it('a storage that nobody uses is closed, and a model that no request uses is unloaded', async () => {
  const { server, act, state } = await setting();
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' });
  await session.search({ name: 'docs', text: corpus[0].question });
  const [storage] = (await state()).storages;
  expect(storage).toMatchObject({ state: 'Pinned', records: corpus.length, dimension });
  expect(await act('storages/close', storage.name)).toEqual([409, 'sessions or turns use it']);
  expect(await act('storages/close', 'nothing')).toEqual([409, 'no storage of this name is loaded']);
  await session.destroy();
  await expect.poll(async () => (await state()).storages[0]?.state).toBe('OnDemand');
  expect(await act('storages/close', storage.name)).toEqual([200, undefined]);
  expect((await state()).storages).toEqual([]);
  const tiny = async () =>
    (await state()).models.find(({ name }: { name: string }) => name === 'tiny').loaded;
  expect(await tiny()).toBe(true);
  expect(await act('models/unload', 'tiny')).toEqual([200, undefined]);
  expect(await tiny()).toBe(false);
  expect(await act('models/unload', 'tiny')).toEqual([409, 'no model of this name is in memory']);
  // The next request loads both again.
  const again = await server.session();
  expect((await again.search({ name: 'kb.json', text: corpus[0].question })).hits[0]?.id).toBe('r0');
});

it('an action needs the right "files", and guesses are limited', async () => {
  const keys_file = keysFile({ owner: ['files'], reader: ['search', 'chat', 'write'] });
  const { act, state } = await setting({ config: { http: { keys_file } } });
  expect((await state()).needSecret).toBe(true);
  const as = (headers: object) => act('models/unload', 'tiny', headers);
  expect(await as({})).toEqual([401, expect.stringMatching(/^Authorization: is missing/)]);
  expect(await as(bearer('a-wrong-key-0123456789'))).toEqual([401, expect.stringMatching(/is wrong$/)]);
  expect(await as(bearer(secret('reader')))).toEqual([403, expect.stringContaining('"files"')]);
  expect(await as(bearer(secret('owner')))).toEqual([409, 'no model of this name is in memory']);
  let status = 401;
  for (let n = 0; n < 20 && status === 401; n++) [status] = await as(bearer(`guess-${n}-000000000000000`));
  expect(status).toBe(429);
});

it.each([
  ['another web page', { ...json, origin: 'https://evil.example' }, 403],
  ['a file', { ...json, origin: 'null' }, 403],
  ['a site that shares a browser', { ...json, 'sec-fetch-site': 'same-site' }, 403],
  ['a name that DNS may have rebound', { ...json, host: 'evil.example' }, 403],
  ['a form', { 'content-type': 'text/plain' }, 415],
])('%s cannot act', async (_, headers, status) => {
  const { port } = await setting();
  const body = JSON.stringify({ name: 'tiny' });
  expect((await call(port, 'POST', '/api/models/unload', body, headers)).status).toBe(status);
});

it('an action without a usable name is refused', async () => {
  const { act, port } = await setting();
  for (const name of ['', 5, null, 'x'.repeat(5000)])
    expect(await act('models/unload', name)).toEqual([400, expect.stringMatching(/^name: /)]);
  expect((await call(port, 'GET', '/api/models/unload')).status).toBe(404);
  expect((await call(port, 'POST', '/api/models/unload', '{')).status).toBe(400);
});

it('the state has agent and client of turns, and defaults of the config', async () => {
  const { server, port, state } = await setting({ config: { thread_count: 1 } });
  const session = await server.session();
  const agent = await session.createAgent({ graph: { nodes: [{ id: 'a', type: 'quote' }] } });
  await agent.turn('Hi');
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const stream = await fetch(`http://127.0.0.1:${port}/api/stream`, { signal: gone.signal });
  let text = '';
  for await (const piece of stream.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(piece).toString();
    if (text.includes('"turn":')) break;
  }
  expect(text).toMatch(/"turn":"s1\.t1","agent":"s1\.a1","client":"[^"]*127\.0\.0\.1:\d+"/);
  const { config } = await state();
  const threads = config.find(({ path }: { path: string }) => path === 'thread_count');
  expect(threads).toMatchObject({ value: 1, default: expect.any(Number) });
});
