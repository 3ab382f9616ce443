import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { ConnectionLostError, connect } from '../../src/client/index.js';
import { requestSchemas } from '../../src/protocol/frames.js';
import { rightOf } from '../../src/server/rights.js';
import { corpus } from '../server/corpus.js';
import { door } from './door-setting.js';
import { keyedSocket, keysFile, SocketClient, secret } from './web-socket.js';

it('a text message is a frame: the server greets, and answers as over TCP', async () => {
  const { port } = await door();
  const socket = await SocketClient.open(port);
  expect(await socket.next(({ type }) => type === 'Hello')).toMatchObject({
    server: 'lorekeep',
    protocol: 1,
  });
  await socket.begin();
  const { question } = corpus[3] as (typeof corpus)[number];
  const search = {
    type: 'SearchEmbeddedStringStorageRequest',
    session_id: socket.session,
    name: 'docs',
    text: question,
  };
  expect((await socket.request({ id: 2, ...search })).hits[0].id).toBe('r3');
});

it('a binary message is the payload of a binary frame, which is audio', async () => {
  const { port } = await door();
  const socket = await SocketClient.open(port);
  await socket.begin();
  socket.socket.send(Buffer.from('{"type":"Ping","id":7}'), { binary: true });
  expect(await socket.next(({ type }) => type === 'Error')).toMatchObject({ code: 7003 });
  expect(await socket.request({ type: 'Ping', id: 8 })).toMatchObject({ type: 'Pong' });
});

it('long replies and many requests at once arrive whole and in order of their ids', async () => {
  const { port } = await door();
  const socket = await SocketClient.open(port);
  await socket.begin();
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      socket.request({
        type: 'SearchEmbeddedStringStorageRequest',
        id: 10 + n,
        session_id: socket.session,
        name: 'docs',
        text: `${corpus[n % corpus.length]?.question}`,
        top_k: 5,
      }),
    ),
  );
  expect(replies.every(({ hits }) => hits.length > 0)).toBe(true);
});

it('the key travels in the first request, never in the address', async () => {
  const keys_file = keysFile({ one: ['search'] });
  const { port } = await door({ keys_file });
  await expect(SocketClient.open(port, `/v1/socket?key=${secret('one')}`)).rejects.toThrow('400');
  const socket = await SocketClient.open(port);
  expect(await socket.begin()).toMatchObject({ type: 'Error', code: 2010 });
  expect(await socket.begin('wrong-key-0123456789')).toMatchObject({ type: 'Error' });
});

it('other web pages are refused before the handshake', async () => {
  const { port } = await door({ cors_origins: ['https://app.example'] });
  await expect(SocketClient.open(port, '/v1/socket', { origin: 'https://evil.example' })).rejects.toThrow(
    '403',
  );
  await expect(SocketClient.open(port, '/v1/socket', { host: 'evil.example' })).rejects.toThrow('403');
  const listed = await SocketClient.open(port, '/v1/socket', { origin: 'https://app.example' });
  expect(await listed.begin()).toMatchObject({ type: 'CreateSessionResponse' });
});

it('every request has a row in the table of rights, which the guide shows', () => {
  expect(Object.keys(rightOf).sort()).toEqual(Object.keys(requestSchemas).sort());
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/websocket.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| ([A-Za-z, ]+) \| (\w+) \|$/gm)];
  const shown = Object.fromEntries(
    rows.flatMap(([, names = '', right = '']) => names.split(', ').map((name) => [name, right])),
  );
  for (const [name, right = 'none'] of Object.entries(rightOf))
    expect([name, shown[name]]).toEqual([name, right]);
});

it.each([
  ['storage_data_folder', () => ({ type: 'CreateSessionRequest', storage_data_folder: '/tmp' }), 2013],
  [
    'a path to be searched',
    (session_id: string) => ({
      type: 'SearchEmbeddedStringStorageRequest',
      session_id,
      name: 'docs/kb.json',
      text: 'x',
    }),
    2013,
  ],
  [
    'a config path',
    (session_id: string) => ({
      type: 'CreateEmbeddedStringStorageRequest',
      session_id,
      name: 'mine',
      config_path: 'docs/kb.json',
    }),
    2013,
  ],
  [
    'a path in a graph',
    (session_id: string) => ({
      type: 'CreateAgentRequest',
      session_id,
      graph: { nodes: [{ id: 'a', type: 'canned_response', params: { string_storage: 'lists/x.txt' } }] },
    }),
    2013,
  ],
  [
    'an unknown name',
    (session_id: string) => ({
      type: 'SearchEmbeddedStringStorageRequest',
      session_id,
      name: 'dox',
      text: 'x',
    }),
    8005,
  ],
  ['a download', (session_id: string) => ({ type: 'PullModelRequest', session_id, model: 'tiny' }), 2013],
])('a key without "files" does not reach %s', async (_, frame, code) => {
  const socket = await keyedSocket(['search', 'chat']);
  const sent = frame(socket.session as string);
  const reply = await socket.request({
    id: 2,
    access_token: sent.type === 'CreateSessionRequest' ? secret('one') : undefined,
    ...sent,
  });
  expect(reply).toMatchObject({ type: 'Error', code });
});

it('a key with "search" alone makes no agents', async () => {
  const socket = await keyedSocket(['search']);
  const graph = { nodes: [{ id: 'a', type: 'canned_response' }] };
  const reply = await socket.request({
    type: 'CreateAgentRequest',
    id: 2,
    session_id: socket.session,
    graph,
  });
  expect(reply).toMatchObject({ code: 2013, details: { right: 'chat' } });
});

it('a handshake agrees to no protocol below it and to no compression, and a plain request is told what to do', async () => {
  const { port, call } = await door();
  const offered = new WebSocket(`ws://127.0.0.1:${port}/v1/socket`, ['chat', secret('one')]);
  const refusal = await new Promise<Error>((resolve) => offered.once('error', resolve));
  expect(refusal.message).toContain('Server sent no subprotocol');
  const socket = await SocketClient.open(port);
  expect([socket.socket.extensions, socket.socket.protocol]).toEqual(['', '']);
  const plain = await call('GET', '/v1/socket');
  expect([plain.status, plain.headers.upgrade]).toEqual([426, 'websocket']);
});

it('a thousand sockets are served, and give everything back', { timeout: 120_000 }, async () => {
  const limits = { max_connections: 1100, max_connections_per_address: 1100 };
  const { port, server } = await door({}, { config: { limits } });
  const sockets = await Promise.all(Array.from({ length: 1000 }, () => SocketClient.open(port)));
  const replies = await Promise.all(sockets.map((socket) => socket.request({ type: 'Ping', id: 1 })));
  expect(replies.every(({ type }) => type === 'Pong')).toBe(true);
  for (const { socket } of sockets) socket.terminate();
  await expect.poll(() => server.server.memory.heldNow.total, { timeout: 60_000 }).toBe(0);
  expect(await (await SocketClient.open(port)).begin()).toMatchObject({ type: 'CreateSessionResponse' });
});

it('a client that does not read its replies is dropped, and its memory is given back', async () => {
  const { port, server } = await door({}, { config: { limits: { unread_timeout_ms: 500 } } });
  const socket = await SocketClient.open(port);
  await socket.begin();
  socket.socket.pause();
  const request = { type: 'ListEmbeddedStringStorageRequest', session_id: socket.session, name: 'docs' };
  for (let id = 2; id < 20_000; id++) socket.socket.send(JSON.stringify({ ...request, id }), () => {});
  await expect.poll(() => server.server.memory.heldNow.total, { timeout: 60_000 }).toBeGreaterThan(0);
  await expect.poll(() => server.server.memory.heldNow.total, { timeout: 60_000 }).toBe(0);
});

it('a message beyond the limit ends the socket', async () => {
  const { port } = await door({}, { config: { max_frame_mb: 1 } });
  const socket = await SocketClient.open(port);
  socket.socket.send('x'.repeat(1024 * 1024 + 1));
  expect(await socket.closed).toBe(1009);
});

/** Pieces of a message whose end does not come. */
function unfinished(socket: SocketClient, pieces: readonly string[]): void {
  for (const piece of pieces) socket.socket.send(piece, { fin: false });
}

it('an unfinished message counts as received, and is given back with its end', async () => {
  const { port, server } = await door();
  const receiving = () => server.server.memory.byKind.receiving;
  const before = receiving();
  const socket = await SocketClient.open(port);
  await socket.begin();
  const part = ' '.repeat(100_000);
  unfinished(socket, ['{"type":"Ping",', ...Array.from({ length: 20 }, () => part)]);
  await expect.poll(receiving).toBeGreaterThan(before + 2_000_000);
  socket.socket.send('"id":5}');
  expect(await socket.next(({ reply_to }) => reply_to === 5)).toMatchObject({ type: 'Pong' });
  await expect.poll(receiving).toBe(before);
});

it('a message that can never fit, in pieces, ends its connection before it has arrived', async () => {
  const { port } = await door({}, { config: { max_client_memory_mb: 8 } });
  const socket = await SocketClient.open(port);
  await socket.begin();
  unfinished(
    socket,
    Array.from({ length: 80 }, () => ' '.repeat(100_000)),
  );
  expect(await socket.next(({ type }) => type === 'Error')).toMatchObject({ code: 6001 });
  await socket.closed;
});

it('a message that is not finished in time ends its connection, pings or not', async () => {
  const { port } = await door({}, { config: { limits: { frame_timeout_ms: 300 } } });
  const socket = await SocketClient.open(port);
  await socket.begin();
  unfinished(socket, ['{"type":']);
  const pings = setInterval(() => socket.socket.ping(), 20);
  onTestFinished(() => clearInterval(pings));
  expect(await socket.next(({ type }) => type === 'Error')).toMatchObject({ code: 1006 });
  await socket.closed;
});

it('pings alone are no unfinished message', async () => {
  const { port } = await door({}, { config: { limits: { frame_timeout_ms: 300 } } });
  const socket = await SocketClient.open(port);
  await socket.begin();
  let pongs = 0;
  await new Promise<void>((resolve) => {
    const pings = setInterval(() => socket.socket.ping('a'.repeat(100)), 50);
    onTestFinished(() => clearInterval(pings));
    socket.socket.on('pong', () => {
      if (++pongs === 20) resolve();
    });
  });
  expect(await socket.request({ type: 'Ping', id: 9 })).toMatchObject({ type: 'Pong' });
});

it('pings of a client that does not read are answered one at a time', async () => {
  const { port } = await door();
  const socket = await SocketClient.open(port);
  await socket.begin();
  const data = 'a'.repeat(125);
  socket.socket.pause();
  const pings = 200_000;
  for (let n = 1; n < pings; n++) socket.socket.ping(data);
  await new Promise<void>((resolve) => socket.socket.ping('last', true, () => resolve()));
  let pongs = 0;
  const last = new Promise<void>((resolve) =>
    socket.socket.on('pong', (answer) => {
      pongs++;
      if (String(answer) === 'last') resolve();
    }),
  );
  socket.socket.resume();
  await last;
  expect(pongs).toBeLessThan(pings);
});

it('a stopping server says goodbye to sockets', async () => {
  const { port, server } = await door();
  const socket = await SocketClient.open(port);
  await socket.begin();
  await server.server.close();
  expect([1001, 1006]).toContain(await socket.closed);
});

it('the TypeScript client speaks over a WebSocket as over TCP: searches and turns', async () => {
  const keys_file = keysFile({ one: ['search', 'chat'] });
  const { port } = await door({ keys_file });
  const url = `ws://127.0.0.1:${port}/v1/socket`;
  const states: string[] = [];
  const client = await connect({ url, accessToken: secret('one'), onState: (state) => states.push(state) });
  onTestFinished(() => client.close());
  const session = await client.createSession();
  const { question = '' } = corpus[3] ?? {};
  expect((await session.search({ name: 'docs', text: question })).hits[0]?.id).toBe('r3');
  const agent = await session.createAgent({
    graph: {
      nodes: [
        { id: 'a', type: 'retrieve', params: { embeddedStringStorage: 'docs' } },
        { id: 'b', type: 'quote' },
      ],
    },
  });
  expect((await agent.turn(question)).text).toContain('Bronze');
  await client.close();
  expect(states.at(-1)).toBe('closed');
});

it('a WebSocket that cannot be opened rejects as a TCP connection does', async () => {
  const { port } = await door();
  await expect(connect({ url: `ws://127.0.0.1:${port}/nothing` })).rejects.toThrow(ConnectionLostError);
  await expect(connect({ url: 'ws://127.0.0.1:1/v1/socket' })).rejects.toThrow(ConnectionLostError);
});
