import { once } from 'node:events';
import { createServer, connect as open, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLog } from '../../src/log/log.js';
import { encodeFrame } from '../../src/protocol/encoder.js';
import { ProxyProtocol } from '../../src/server/proxy-protocol.js';
import { certificate } from '../doors/certificate.js';
import { certificateFiles } from '../doors/certificate-files.js';
import { door } from '../doors/door-setting.js';
import { keysFile, secret } from '../doors/web-socket.js';
import { binaryHeader, headerOf, signature } from './proxy-headers.js';
import { RawClient } from './raw-client.js';
import { TestServer } from './test-server.js';

/** The tests' balancer. Other addresses of this machine are direct clients. */
const balancer = '127.0.0.2';
const proxied = { network_access: 'local_network' as const, proxy_protocol: [balancer, '10.9.0.0/16'] };

function testLog() {
  const lines: string[] = [];
  return { lines, log: createLog('debug', { write: (line) => void lines.push(line) }) };
}

function connected(port: number, localAddress: string): Socket {
  const socket = open({ port, host: '127.0.0.1', localAddress });
  onTestFinished(() => void socket.destroy());
  return socket.on('error', () => {});
}

/** Sends bytes as the balancer, in pieces of a length, and returns what came back when the connection has closed. */
async function answer(port: number, bytes: Buffer, from = balancer, piece = bytes.length): Promise<string> {
  const socket = connected(port, from);
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  await once(socket, 'connect');
  socket.setNoDelay(true);
  for (let begin = 0; begin < bytes.length; begin += piece) {
    socket.write(bytes.subarray(begin, begin + piece));
    if (piece < bytes.length) await new Promise(setImmediate);
  }
  await once(socket, 'close');
  return received;
}

/** A client behind the balancer, past the greeting. */
async function client(port: number, ...headers: Buffer[]): Promise<RawClient> {
  const raw = RawClient.over(connected(port, balancer));
  onTestFinished(() => raw.destroy());
  for (const header of headers) raw.bytes(header);
  await raw.next(({ type }) => type === 'Hello');
  return raw;
}

const ping = { type: 'Ping', id: 1 };

it('the client that the balancer states is greeted, named in the log and counted by its own address', async () => {
  const { lines, log } = testLog();
  const limits = { max_connections_per_address: 2 };
  const server = await TestServer.start({ config: { ...proxied, limits }, log });
  const first = await client(server.port, headerOf('10.1.2.3', 4001));
  expect(await first.request(ping)).toMatchObject({ type: 'Pong' });
  await client(server.port, Buffer.from('PROXY TCP4 10.1.2.3 10.0.0.1 4002 9100\r\n'));
  expect(lines.join('')).toContain('"client":"10.1.2.3:4001"');
  const third = connected(server.port, balancer);
  third.write(headerOf('10.1.2.3', 4003));
  const [reply] = await once(third, 'data');
  expect(String(reply)).toContain('limits.max_connections_per_address');
  await client(server.port, headerOf('10.1.2.4', 4001));
});

it('a header in single bytes, with the first request behind it, is read to its end alone', async () => {
  const server = await TestServer.start({ config: proxied });
  const bytes = Buffer.concat([headerOf('10.1.2.3', 4001), encodeFrame(ping, 1000)]);
  for (const piece of [1, 27, 28, 29, bytes.length]) {
    const raw = RawClient.over(connected(server.port, balancer));
    for (let begin = 0; begin < bytes.length; begin += piece) {
      raw.bytes(bytes.subarray(begin, begin + piece));
      await new Promise(setImmediate);
    }
    await raw.next(({ type }) => type === 'Pong');
    raw.destroy();
  }
});

it('a check of the balancer is a client of the balancer’s address', async () => {
  const { lines, log } = testLog();
  const server = await TestServer.start({ config: proxied, log });
  await client(server.port, binaryHeader(0x20, 0, Buffer.alloc(0)));
  await client(server.port, Buffer.from('PROXY UNKNOWN\r\n'));
  expect(lines.filter((line) => /"client":"::ffff:127\.0\.0\.2:\d+"/.test(line))).toHaveLength(2);
  // A check that only connects.
  const bare = connected(server.port, balancer);
  await once(bare, 'connect');
  bare.end();
  await vi.waitFor(() => expect(lines.join('')).toContain('closed before a PROXY header'));
  expect(lines.filter((line) => line.includes('"level":"warn"') && line.includes('PROXY'))).toEqual([]);
});

it('network_access holds for the peer and for the client that it states', async () => {
  const { lines, log } = testLog();
  const open = await TestServer.start({ config: proxied, log });
  expect(await answer(open.port, headerOf('198.51.100.7', 4001))).toBe('');
  expect(lines.join('')).toContain('"client":"198.51.100.7","msg":"refused: not of the local network"');
  const local = await TestServer.start({ config: { ...proxied, network_access: 'local' }, log });
  expect(await answer(local.port, headerOf('10.1.2.3', 4001))).toBe('');
  expect(lines.join('')).toContain(
    '"client":"10.1.2.3","msg":"refused: not of this machine (network_access)"',
  );
  await client(local.port, headerOf('127.0.0.1', 4001));
});

it('a listed address without a header is refused, and the log names the fix', async () => {
  const { lines, log } = testLog();
  const server = await TestServer.start({ config: proxied, log });
  for (const bytes of [
    encodeFrame(ping, 1000),
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.from('PROXY TCP4 bad\r\n'),
    Buffer.concat([signature, Buffer.from([0x21, 0x11, 0xff, 0xff])]),
  ])
    expect(await answer(server.port, bytes)).toBe('');
  const told = lines.filter((line) => line.includes('"client":"::ffff:127.0.0.2"'));
  expect(told).toHaveLength(4);
  for (const line of told) expect(line).toMatch(/proxy_protocol lists the address: .*send-proxy-v2/);
});

it('a header from an address that is not listed is refused, and its client does not count', async () => {
  const { lines, log } = testLog();
  const server = await TestServer.start({ config: proxied, log });
  for (const header of [headerOf('10.1.2.3', 4001), Buffer.from('PROXY TCP4 10.1.2.3 10.0.0.1 1 2\r\n')]) {
    lines.length = 0;
    expect(await answer(server.port, header, '127.0.0.3')).toBe('');
    expect(lines.join('')).toMatch(
      /"client":"(::ffff:)?127\.0\.0\.3","msg":"refused: it begins with a PROXY/,
    );
    expect(lines.join('')).not.toContain('10.1.2.3');
  }
  // Nor after the first header of a listed one.
  const twice = await client(server.port, headerOf('10.1.2.3', 4001));
  twice.bytes(headerOf('10.1.2.4', 4001));
  await twice.next(({ type }) => type === 'Error');
  expect(lines.join('')).not.toContain('10.1.2.4');
});

it('a header that does not come in time, and one too many that waits, close the connection', async () => {
  const { lines, log } = testLog();
  const late = new ProxyProtocol({ balancers: ['127.0.0.0/8'], log, waitMs: 20 });
  const patient = new ProxyProtocol({ balancers: ['127.0.0.0/8'], log, waitMs: 600_000 });
  const identify = { late, patient };
  let served = 0;
  const listen = async (which: keyof typeof identify) => {
    const server = createServer((socket) => identify[which].identify(socket, () => served++));
    onTestFinished(() => void server.close());
    // With the usual backlog of 511, a busy machine drops connections that come at once.
    const at = { port: 0, host: '127.0.0.1', backlog: 2048 };
    await new Promise<void>((resolve) => server.listen(at, resolve));
    return (server.address() as { port: number }).port;
  };
  expect(await answer(await listen('late'), signature)).toBe('');
  expect(lines.join('')).toContain('no PROXY header came within 20 ms');
  const port = await listen('patient');
  const flood = Array.from({ length: 1025 }, () => connected(port, balancer));
  await once(flood[0] as Socket, 'close');
  expect(lines.join('')).toContain('1024 connections wait');
  patient.close();
  await Promise.all(flood.slice(1).map((socket) => socket.closed || once(socket, 'close')));
  expect(served).toBe(0);
});

it('a stopping server does not wait for headers', async () => {
  const server = await TestServer.start({ config: proxied });
  const socket = connected(server.port, balancer);
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  await Promise.all([server.server.close(), closed]);
});

const request = 'GET /v1/storages HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n';

it.each(['http', 'https'])('the doors take the header before %s, and count its client', async (scheme) => {
  const { lines, log } = testLog();
  const keys_file = keysFile({ one: ['search'] });
  const tls = scheme === 'https' ? certificateFiles() : {};
  const http = { ...tls, bind: '0.0.0.0', allow_remote: true, keys_file };
  const { port } = await door(http, { config: proxied, log });
  /** The status of one request of a stated client. */
  const status = async (address: string, key: string): Promise<string | undefined> => {
    const raw = connected(port, balancer);
    await once(raw, 'connect');
    raw.write(headerOf(address, 4001));
    const socket =
      scheme === 'https' ? connectTls({ socket: raw, ca: certificate, servername: 'lorekeep.test' }) : raw;
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => (received += chunk));
    socket.write(`${request}Authorization: Bearer ${key}\r\n\r\n`);
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    return /^HTTP\/1\.1 (\d+)/.exec(received)?.[1];
  };
  expect(await status('10.1.2.3', secret('one'))).toBe('200');
  // Wrong keys count for the client that sent them, not for the balancer.
  for (let n = 0; n < 11; n++) await status('10.1.2.3', 'wrong');
  expect(await status('10.1.2.3', 'wrong')).toBe('429');
  expect(await status('10.1.2.4', 'wrong')).toBe('401');
  expect(await status('198.51.100.7', secret('one'))).toBeUndefined();
  expect(lines.join('')).toContain('"client":"198.51.100.7","msg":"http: refused');
  if (scheme === 'https') return;
  expect(await answer(port, Buffer.from(`${request}\r\n`))).toBe('');
  expect(lines.join('')).toMatch(/proxy_protocol lists the address/);
  const whole = Buffer.concat([headerOf('10.1.2.3', 4001), Buffer.from(`${request}\r\n`)]);
  for (const piece of [1, 28, whole.length])
    expect(await answer(port, whole, balancer, piece)).toMatch(/^HTTP\/1\.1 401 /);
  for (const header of ['PROXY TCP4 10.1.2.3 10.0.0.1 1 2\r\n', `${headerOf('10.1.2.3', 1)}`])
    expect(await answer(port, Buffer.from(header, 'latin1'), '127.0.0.3')).toBe('');
  expect(lines.filter((line) => line.includes('it begins with a PROXY header'))).toHaveLength(2);
});
