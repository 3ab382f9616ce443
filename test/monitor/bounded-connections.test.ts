import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FairSlots } from '../../src/fairness/fair-slots.js';
import { LoopScheduler } from '../../src/fairness/loop-scheduler.js';
import { silentLog } from '../../src/log/log.js';
import { LocalServer, type Route } from '../../src/operations/http/local-server.js';
import { operatorShare } from '../../src/server/operator-share.js';

async function open(route: Route, share = operatorShare(new LoopScheduler(), new FairSlots(1))) {
  const server = await LocalServer.open({
    ...{ name: 'test', bind: '127.0.0.1', port: 0, allowRemote: false, log: silentLog(), share },
    routes: { 'GET /': route, 'POST /': route },
    limits: { requestMs: 200, lookMs: 50, replyMs: 300 },
  });
  onTestFinished(() => server.close());
  return server;
}

async function client({ port }: LocalServer, text: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const head = (method: string, more = '') => `${method} / HTTP/1.1\r\nhost: 127.0.0.1\r\n${more}\r\n`;

test.each([
  ['sends nothing', ''],
  ['sends a part of its head', 'GET / HTTP/1.1\r\nhost: '],
  ['sends a part of its body', `${head('POST', 'content-length: 100\r\n')}{`],
])('a connection that %s is closed', async (_, text) => {
  const server = await open(async (request, response) => {
    for await (const _ of request);
    response.end('ok');
  });
  const socket = await client(server, text);
  socket.resume();
  await once(socket, 'close');
});

test('a request with too many headers is refused, so that none of them is missed by the guard', async () => {
  const server = await open((_, response) => void response.end('ok'));
  for (const count of [0, 260, 1000, 2500]) {
    const socket = await client(
      server,
      head('GET', `${'a:\r\n'.repeat(count)}origin: https://evil.example\r\n`),
    );
    const [reply] = await once(socket, 'data');
    expect(String(reply)).toMatch(count === 0 ? /^HTTP\/1\.1 403 / : /^HTTP\/1\.1 431 /);
  }
});

test('a connection that does not read its reply is closed', async () => {
  let closed: Promise<unknown> | undefined;
  const server = await open((_, response) => {
    closed = once(response, 'close');
    response.end(Buffer.alloc(64 * 1024 * 1024));
  });
  const socket = await client(server, head('GET'));
  socket.pause();
  await vi.waitUntil(() => closed !== undefined, { timeout: 60_000 });
  await closed;
});

test('a connection with pipelined requests of an unknown expectation is closed', async () => {
  const server = await open((_, response) => void response.end('ok'));
  const socket = await client(server, head('GET', 'expect: nothing\r\n').repeat(10));
  socket.resume();
  await once(socket, 'close');
});

test('a connection that sends a body in pieces of a byte is closed', async () => {
  const server = await open(() => {});
  const socket = await client(server, head('POST', 'transfer-encoding: chunked\r\n'));
  socket.write('1\r\na\r\n'.repeat(1000));
  socket.resume();
  await once(socket, 'close');
  expect(socket.bytesRead).toBe(0);
});

test('requests begin in slices of the share that all ports of the operators have', async () => {
  const share = operatorShare(new LoopScheduler(), new FairSlots(1));
  const slice = vi.spyOn(share, 'slice');
  const server = await open((_, response) => void response.end('ok'), share);
  const socket = await client(server, head('GET', 'connection: close\r\n'));
  socket.resume();
  await once(socket, 'close');
  expect(slice).toHaveBeenCalledTimes(1);
});

test('a search of the operators waits for the search of a client where there is one thread, and the other way round', async () => {
  const search = new FairSlots(1);
  const { signal } = new AbortController();
  const share = operatorShare(new LoopScheduler(), search);
  const order: string[] = [];
  const leave = await search.join().enter(signal);
  const own = share.compute(signal, async () => void order.push('own'));
  order.push('client');
  leave();
  await own;
  expect(order).toEqual(['client', 'own']);
  const gone = new AbortController();
  const held = await search.join().enter(signal);
  const waiting = share.compute(gone.signal, async () => {});
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  held();
});
