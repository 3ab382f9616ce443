// Proxies are named by the environment of a process, so each download here has its own. The certificate of models.test is
// signed by itself.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createSocketServer,
  type Server,
  type Socket,
} from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { pullInChild } from './children.js';
import { start, sum } from './scene.js';

const certificate = join(import.meta.dirname, 'models.test.pem');

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy that does this with each tunnel that it is asked for. Lists the places. */
async function tunnelProxy(answer: (socket: Duplex) => void) {
  const places: string[] = [];
  const proxy = createServer().on('connect', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {});
    places.push(request.url ?? '');
    answer(socket);
  });
  return { places, url: `http://user:secret@127.0.0.1:${await portOf(proxy)}` };
}

const noFiles = (folder: string) =>
  expect(readdirSync(folder).filter((name) => name !== '.lock')).toEqual([]);

it('a proxy is asked for the whole address of a file without encryption', async () => {
  const { server, folder } = await start(10_000);
  const options = { folder, url: 'http://models.test/a.gguf', sha256: sum(server.content) };
  const child = pullInChild(options, { HTTP_PROXY: server.url, NO_PROXY: '' });
  expect(await child.ended, child.errors()).toBe(0);
  expect(server.requests.map(({ path }) => path)).toEqual(['http://models.test/a.gguf']);
});

it('NO_PROXY names servers that are asked directly', async () => {
  const { server, folder } = await start(10_000);
  const { url, places } = await tunnelProxy((socket) => socket.destroy());
  const child = pullInChild(
    { folder, url: `${server.url}/a.gguf` },
    { HTTP_PROXY: url, NO_PROXY: '127.0.0.1' },
  );
  expect(await child.ended, child.errors()).toBe(0);
  expect([server.requests[0]?.path, places]).toEqual(['/a.gguf', []]);
});

it('a file with encryption comes through a tunnel; a certificate that nobody vouches for is refused at once', async () => {
  const { server, folder } = await start(10_000);
  const pem = readFileSync(certificate);
  const secure = createSecureServer({ key: pem, cert: pem }, (_, response) => response.end(server.content));
  const port = await portOf(secure);
  const { url, places } = await tunnelProxy((socket) => {
    const behind = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    behind.on('error', () => {});
    socket.pipe(behind).pipe(socket);
  });
  const options = { folder, url: 'https://models.test/a.gguf', sha256: sum(server.content) };
  const environment = { HTTPS_PROXY: url, NO_PROXY: '' };
  const stranger = pullInChild(options, environment);
  expect(await stranger.ended).toBe(1);
  expect(stranger.errors()).toMatch(/the server's certificate is not accepted: DEPTH_ZERO_SELF_SIGNED_CERT/);
  noFiles(folder);
  const child = pullInChild(options, { ...environment, NODE_EXTRA_CA_CERTS: certificate });
  expect(await child.ended, child.errors()).toBe(0);
  expect(places).toEqual(['models.test:443', 'models.test:443']);
});

it('a proxy that closes each connection is given up', async () => {
  const { folder } = await start(10);
  const { url, places } = await tunnelProxy((socket) => socket.destroy());
  const child = pullInChild(
    { folder, url: 'https://models.test/a.gguf' },
    { HTTPS_PROXY: url, NO_PROXY: '' },
  );
  expect(await child.ended).toBe(1);
  expect(child.errors()).toMatch(
    /models\.test\/a\.gguf: no connection: the proxy closed the connection; given up/,
  );
  expect(child.errors()).not.toContain('secret');
  expect(places).toHaveLength(6);
  noFiles(folder);
});

it('a proxy that cannot be connected is hinted at, not shown', async () => {
  const { folder, server } = await start(10);
  const proxy = 'http://user:secret@127.0.0.1:1';
  const child = pullInChild({ folder, url: `${server.url}/a.gguf` }, { HTTP_PROXY: proxy, NO_PROXY: '' });
  expect(await child.ended).toBe(1);
  // Windows has one variable whatever the case of its name.
  expect(child.errors()).toMatch(/no connection: ECONNREFUSED \(HTTP_PROXY names a proxy\); given up/i);
  expect(child.errors()).not.toContain('secret');
  noFiles(folder);
});

it('a refusal of a proxy is named, and repeated only if it may go away', async () => {
  const { folder } = await start(10);
  for (const [status, attempts, reason] of [
    [407, 1, 'the proxy answered 407; HTTP_PROXY and HTTPS_PROXY may hold a user name and a password'],
    [403, 1, 'the proxy answered 403'],
    [503, 6, 'the proxy answered 503; given up'],
  ] as const) {
    const { url, places } = await tunnelProxy((socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
    const child = pullInChild(
      { folder, url: 'https://models.test/a.gguf' },
      { HTTPS_PROXY: url, NO_PROXY: '' },
    );
    expect(await child.ended).toBe(1);
    expect(child.errors()).toContain(`https://models.test/a.gguf: ${reason}`);
    expect(child.errors()).not.toContain('secret');
    expect(places, String(status)).toHaveLength(attempts);
  }
  const { server } = await start(10);
  server.intercept = (_, response) => {
    response.writeHead(407).end();
    return true;
  };
  const child = pullInChild(
    { folder, url: 'http://models.test/a.gguf' },
    { HTTP_PROXY: server.url, NO_PROXY: '' },
  );
  expect(await child.ended).toBe(1);
  expect(child.errors()).toContain('http://models.test/a.gguf: the proxy answered 407;');
});

it('a server that is silent before it is connected is left at once if the download is cancelled', async () => {
  const { pull } = await start(10);
  const sockets: Socket[] = [];
  const silent = createSocketServer((socket) => sockets.push(socket.on('error', () => {})));
  const url = `https://127.0.0.1:${await portOf(silent)}/a.gguf`;
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const cancelled = new AbortController();
  silent.once('connection', () => cancelled.abort(new Error('enough')));
  await expect(pull({ url }, { signal: cancelled.signal })).rejects.toThrow('enough');
  expect(sockets.map((socket) => socket.destroyed)).toEqual([false]);
});
