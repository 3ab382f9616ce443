import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request as secureRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { StartupError } from '../../src/config/startup-error.js';
import { BodyBytes } from '../../src/doors/http/body-bytes.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { certificate } from './certificate.js';
import { certificateFiles } from './certificate-files.js';
import { call, door } from './door-setting.js';
import { open, raw } from './raw-request.js';
import { keysFile, secret } from './web-socket.js';

const patient = { timeout: 120_000 };

const head = 'Host: 127.0.0.1\r\nContent-Type: application/json\r\n';
const body = '{"name":"docs","text":"x"}';
const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

it.each([
  [
    'two lengths',
    `POST /v1/search HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\nContent-Length: 0\r\n\r\n${body}`,
  ],
  [
    'a length and chunks',
    `POST /v1/search HTTP/1.1\r\n${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n`,
  ],
  [
    'a coding besides chunks',
    `POST /v1/search HTTP/1.1\r\n${head}Transfer-Encoding: gzip, chunked\r\n\r\n1a\r\n${body}\r\n0\r\n\r\n`,
    501,
  ],
  [
    'chunks twice',
    `POST /v1/search HTTP/1.1\r\n${head}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n`,
  ],
  ['a list of lengths', `POST /v1/search HTTP/1.1\r\n${head}Content-Length: 26, 26\r\n\r\n${body}`],
  ['a folded header', `POST /v1/search HTTP/1.1\r\n${head}X: a\r\n b\r\nContent-Length: 26\r\n\r\n${body}`],
  [
    'a chunk of a negative size',
    `POST /v1/search HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n-1\r\n`,
  ],
  [
    'a chunk of a size in hexadecimal notation',
    `POST /v1/search HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n0x1a\r\n${body}\r\n0\r\n\r\n`,
  ],
  [
    'chunks that end in bare line feeds',
    `POST /v1/search HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n1a\n${body}\n0\n\n`,
  ],
  [
    'a long chunk extension',
    `POST /v1/search HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n1a;a=${'b'.repeat(65_536)}\r\n${body}\r\n0\r\n\r\n`,
  ],
  ['a carriage return in a header', `GET /v1/models HTTP/1.1\r\n${head}X: a\rY: b\r\n\r\n`],
  [
    'an address of another server',
    `GET http://evil.example/v1/models HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
  ],
  [
    'an address that begins with two slashes',
    `GET //evil.example/v1/models HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
  ],
  [
    'an expectation under the name of another server',
    'POST /v1/search HTTP/1.1\r\nHost: evil.example\r\nExpect: 100-continue\r\nContent-Length: 26\r\n\r\n',
  ],
  [
    'an unknown expectation under the name of another server',
    'GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nExpect: more\r\nConnection: close\r\n\r\n',
  ],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a request for a tunnel', `CONNECT evil.example:80 HTTP/1.1\r\n${head}\r\n`],
  ['an unknown coding', `POST /v1/search HTTP/1.1\r\n${head}Transfer-Encoding: xchunked\r\n\r\n${body}`, 501],
  ['a bare line feed', `POST /v1/search HTTP/1.1\nHost: 127.0.0.1\nContent-Length: 0\n\n`],
  ['a header with a space before its colon', `GET /v1/models HTTP/1.1\r\n${head}Content-Length : 5\r\n\r\n`],
  ['a negative length', `POST /v1/search HTTP/1.1\r\n${head}Content-Length: -1\r\n\r\n`],
  ['headers that are too long', `GET /v1/models HTTP/1.1\r\n${head}X-A: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['an empty Host', 'GET /v1/models HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n'],
  ['two Hosts', `GET /v1/models HTTP/1.1\r\n${head}Host: 127.0.0.2\r\nConnection: close\r\n\r\n`],
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a frame of the TCP port', '\u0001\u0000\u0000\u0000\u0002{}'],
] as [string, string, number?][])(
  '%s is refused, and nothing behind it is served',
  async (_, bytes, status) => {
    const { port } = await door();
    const received = await raw(port, bytes);
    expect(received).toMatch(status === undefined ? /^HTTP\/1\.1 4\d\d / : `HTTP/1.1 ${status} `);
    expect(received.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  },
);

it.each(['1.1', '1.0'])('a request of HTTP/%s without Host is answered with the reason', async (version) => {
  const { port } = await door();
  const received = await raw(port, `GET /v1/models HTTP/${version}\r\nConnection: close\r\n\r\n`);
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(received).toContain('"message":"a Host header is expected"');
});

it.each([
  ['a request of another page', '/v1/storages', ''],
  ['a WebSocket of another page', '/v1/socket', upgrade],
])('%s is refused, however many headers are before its Origin', async (_, path, more) => {
  const { port } = await door();
  const request = (count: number) =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}${'a:\r\n'.repeat(count)}Origin: https://evil.example\r\n\r\n`;
  const alone = await open(port);
  alone.write(request(0));
  expect(String(await once(alone, 'data'))).toMatch(/^HTTP\/1\.1 403 /);
  // By itself, Node.js drops the headers after the first 1,000, silently.
  for (const count of [4000, 2500, 2000, 1000, 999, 260]) {
    const received = await raw(port, request(count));
    expect(received).toMatch(/^HTTP\/1\.1 431 /);
    expect(received.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  }
});

it('a client that waits for leave to send its body gets it after the checks of its headers', async () => {
  const { port } = await door({ keys_file: keysFile({ one: ['search'] }) });
  const begin = (key: string) =>
    `POST /v1/search HTTP/1.1\r\n${head}Connection: close\r\nExpect: 100-continue\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n`;
  expect(await raw(port, begin('wrong-0123456789abcdef'))).toMatch(/^HTTP\/1\.1 401 /);
  const socket = await open(port);
  socket.write(begin(secret('one')));
  expect(String(await once(socket, 'data'))).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(body);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
});

it('a request of 200 headers is served', async () => {
  const { port } = await door();
  const many = `GET /v1/storages HTTP/1.1\r\n${head}${'a:\r\n'.repeat(196)}Connection: close\r\n\r\n`;
  expect(await raw(port, many)).toMatch(/^HTTP\/1\.1 200 /);
});

it('a second request before the first is answered ends the connection', async () => {
  const { port } = await door();
  const request = `POST /v1/search HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  const received = await raw(port, request.repeat(3));
  expect(received.match(/HTTP\/1\.1 200/g) ?? []).toHaveLength(0);
});

it('an upgrade to another protocol than WebSocket is not taken: its request is served, as HTTP allows', async () => {
  const { port } = await door();
  const offer = 'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
  const requests = [
    `POST /v1/search HTTP/1.1\r\n${head}${offer}Content-Length: ${body.length}\r\n\r\n${body}`,
    `GET /v1/storages HTTP/1.1\r\nHost: 127.0.0.1\r\n${offer}\r\n`,
  ];
  for (const request of requests) expect(await raw(port, request)).toMatch(/^HTTP\/1\.1 200 /);
});

it('a body of many small pieces is read whole, and one of very many bytes by themselves ends its connection', async () => {
  const { port } = await door();
  const long = `${body.slice(0, -2)}${'x'.repeat(5000)}"}`;
  const pieces20 = long.match(/.{1,20}/gs) ?? [];
  const chunks = pieces20.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('');
  const request = `POST /v1/search HTTP/1.1\r\n${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
  expect(await raw(port, `${request}${chunks}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  const crumbs = [...long].map((character) => `1\r\n${character}\r\n`);
  expect(await raw(port, `${request}${crumbs.join('')}0\r\n\r\n`)).toBe('');
  const few = body.match(/./gs)?.map((character) => `1\r\n${character}\r\n`) ?? [];
  expect(await raw(port, `${request}${few.join('')}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  const bytes = new BodyBytes();
  const sizes = [1, 1023, 1024, 1025, 3, ...Array.from({ length: 1000 }, (_, n) => 1 + (n % 7)), 5000, 2];
  const pieces = sizes.map((size, n) => Buffer.alloc(size, n % 251));
  for (const piece of pieces) bytes.push(piece);
  expect(bytes.whole().equals(Buffer.concat(pieces))).toBe(true);
});

it.each([
  [{ host: 'evil.example' }, 403],
  [{ host: '127.0.0.1.evil.example' }, 403],
  [{ host: 'localhost.' }, 403],
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{ origin: 'http://127.0.0.1' }, 403],
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ 'sec-fetch-site': 'none' }, 200],
  [{ host: 'localhost' }, 200],
  [{ host: '[::1]:9103' }, 200],
])('a request with %j is answered with %i', async (headers, status) => {
  const { call: ask } = await door();
  const reply = await ask('GET', '/v1/storages', undefined, headers as Record<string, string>);
  expect(reply.status).toBe(status);
  expect(reply.headers['access-control-allow-origin']).toBeUndefined();
});

it('a listed origin may call, and its preflight is answered; others get no CORS header', async () => {
  const app = 'https://app.example';
  const { call: ask } = await door({ cors_origins: [app] });
  const allowed = await ask('GET', '/v1/storages', undefined, {
    origin: app,
    'sec-fetch-site': 'cross-site',
  });
  expect([allowed.status, allowed.headers['access-control-allow-origin'], allowed.headers.vary]).toEqual([
    200,
    app,
    'Origin',
  ]);
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-stainless-os',
  };
  const answered = await ask('OPTIONS', '/v1/search', undefined, { origin: app, ...preflight });
  expect(answered.status).toBe(204);
  expect(answered.headers['access-control-allow-headers']).toBe(
    'authorization, content-type, x-stainless-os',
  );
  const refused = await ask('OPTIONS', '/v1/search', undefined, {
    origin: 'https://evil.example',
    ...preflight,
  });
  expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([403, undefined]);
});

it('the origin "null" counts only if it is listed, and with a key', async () => {
  const origin = { origin: 'null' };
  const listed = await door({ cors_origins: ['null'] });
  expect((await listed.call('GET', '/v1/storages', undefined, origin)).status).toBe(403);
  const keyed = await door({ cors_origins: ['null'], keys_file: keysFile({ one: ['search'] }) });
  expect((await keyed.call('GET', '/v1/storages', undefined, origin)).status).toBe(401);
  const authorization = `Bearer ${secret('one')}`;
  expect((await keyed.call('GET', '/v1/storages', undefined, { ...origin, authorization })).status).toBe(200);
});

it('a form or a text of another page is no request', async () => {
  const { call: ask } = await door();
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
    expect((await ask('POST', '/v1/search', body, { 'content-type': type })).status).toBe(415);
  expect((await ask('POST', '/v1/search', body, { 'content-encoding': 'gzip' })).status).toBe(415);
});

it('a body beyond the limit is refused before it is read, and one that grows beyond it while it is', async () => {
  const { call: ask, port } = await door({}, { config: { max_frame_mb: 1 } });
  const long = JSON.stringify({ name: 'docs', text: 'x'.repeat(1024 * 1024) });
  const reply = await ask('POST', '/v1/search', long).catch((error: NodeJS.ErrnoException) => error.code);
  if (typeof reply === 'object') expect(reply.status).toBe(413);
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const received = await raw(
    port,
    `POST /v1/search HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}`,
  );
  expect(received === '' || received.startsWith('HTTP/1.1 413')).toBe(true);
});

it('slow headers and slow bodies end with 408', async () => {
  const { port } = await door({}, { config: { limits: { frame_timeout_ms: 1000 } } });
  const slow = await Promise.all([
    raw(port, 'GET /v1/models HTTP/1.1\r\nHost: 127'),
    raw(port, `POST /v1/search HTTP/1.1\r\n${head}Content-Length: 100\r\n\r\n{`),
  ]);
  for (const received of slow) expect(received).toMatch(/^HTTP\/1\.1 408 /);
});

it('connections beyond the limit are turned away with 503, and the others go on', async () => {
  const { port } = await door({}, { config: { limits: { max_connections_per_address: 20 } } });
  const held = await Promise.all(Array.from({ length: 20 }, () => open(port)));
  const refused = await raw(port, 'GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*\r\n(.*\r\n)*retry-after: 1/i);
  expect(refused).toContain('"type":"server_error"');
  const [first] = held as [Socket];
  first.write('GET /v1/storages HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
  expect(String((await once(first, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);
});

it('under TLS, too, connections beyond the limit are told with 503, and a slot that is given back serves', async () => {
  const tls = certificateFiles();
  const { port } = await door(tls, { config: { limits: { max_connections_per_address: 2 } } });
  const [first] = [await open(port), await open(port)];
  const get = () =>
    new Promise<{ status: number | undefined; wait: string | undefined; text: string }>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: '/v1/storages', ca: certificate, agent: false };
      secureRequest(options, (response) => {
        let text = '';
        response.on('data', (piece) => {
          text += piece;
        });
        const { statusCode: status, headers } = response;
        response.on('end', () => resolve({ status, wait: headers['retry-after'], text }));
      })
        .on('error', reject)
        .end();
    });
  const refused = await get();
  expect(refused).toMatchObject({ status: 503, wait: '1' });
  expect(refused.text).toContain('limits.max_connections_per_address');
  // One that never begins its handshake is ended, and so are those beyond the most that are told.
  const silent = await Promise.all(Array.from({ length: 80 }, () => open(port)));
  await Promise.all(silent.map((socket) => socket.destroyed || once(socket, 'close')));
  first.destroy();
  await expect.poll(async () => (await get()).status).toBe(200);
});

it('a thousand connections are served, and give everything back', async () => {
  const { port, server } = await door({}, { config: { limits: { max_connections_per_address: 1100 } } });
  const sockets = await Promise.all(Array.from({ length: 1000 }, () => open(port)));
  await Promise.all(
    sockets.map(async (socket) => {
      socket.write('GET /v1/storages HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      const [data] = await once(socket, 'data');
      expect(String(data)).toMatch(/^HTTP\/1\.1 200/);
    }),
  );
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => server.server.memory.heldNow.total, patient).toBe(0);
  expect((await call(port, 'GET', '/v1/storages')).status).toBe(200);
});

it('a client that goes away cancels its turn, streamed or not', async () => {
  const aborted: Promise<void>[] = [];
  const model = new FakeTextModel({
    reply: () => ['one ', 'two ', 'three '],
    pause: (index, signal) => {
      if (index === 0) return Promise.resolve();
      const gone = new Promise<void>((resolve) =>
        signal?.addEventListener('abort', () => resolve(), { once: true }),
      );
      aborted.push(gone);
      return gone;
    },
  });
  const { port, server } = await door({}, { loadLanguageModel: async () => model });
  for (const stream of [true, false]) {
    const content = JSON.stringify({ model: 'talker', stream, messages: [{ role: 'user', content: 'Hi' }] });
    const socket = await open(port);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\n${head}Content-Length: ${content.length}\r\n\r\n${content}`,
    );
    await expect.poll(() => aborted.length, patient).toBe(stream ? 1 : 2);
    socket.destroy();
    await aborted.at(-1);
  }
  await expect.poll(() => server.server.memory.heldNow.total, patient).toBe(0);
});

it('access from other machines needs a secret', async () => {
  await expect(door({ allow_remote: true })).rejects.toThrow(/http\.allow_remote: .*http\.keys_file/);
  const { call: ask } = await door({
    allow_remote: true,
    bind: '0.0.0.0',
    keys_file: keysFile({ one: ['search'] }),
  });
  expect((await ask('GET', '/v1/storages')).status).toBe(401);
});

const own = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

it.skipIf(own === undefined)(
  'without allow_remote other addresses are refused, wherever it listens',
  async () => {
    const { port } = await door({ bind: '0.0.0.0' });
    const socket = connect(port, own);
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write('GET /v1/storages HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await once(socket, 'close');
    expect(received).toBe('');
  },
);

it.each(['http', 'https'])('a stopping server sends the reply that is nearly done by %s', async (scheme) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = new FakeTextModel({ pause: () => released });
  const { port, server } = await door(scheme === 'https' ? certificateFiles() : {}, {
    loadLanguageModel: async () => model,
  });
  const content = JSON.stringify({ model: 'talker', messages: [{ role: 'user', content: 'Hi' }] });
  const socket =
    scheme === 'https'
      ? connectTls({ port, host: '127.0.0.1', ca: certificate, servername: 'lorekeep.test' })
      : connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('error', () => {}).on('data', (chunk) => (received += chunk));
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\n${head}Content-Length: ${content.length}\r\n\r\n${content}`,
  );
  await expect.poll(() => model.requests.length, patient).toBe(1);
  const closed = server.server.close();
  release();
  await closed;
  await expect.poll(() => received, { timeout: 20_000 }).toMatch(/^HTTP\/1\.1 \d\d\d /);
});

it('a request that outlives the time for unfinished ones is told that the server is stopping', async () => {
  const model = new FakeTextModel({ pause: () => new Promise(() => {}) });
  const { server, call } = await door({}, { loadLanguageModel: async () => model });
  const reply = call('POST', '/v1/chat/completions', {
    model: 'talker',
    messages: [{ role: 'user', content: 'Hi' }],
  });
  await expect.poll(() => model.requests.length, patient).toBe(1);
  const [{ status, headers, json }] = await Promise.all([reply, server.server.close()]);
  expect(status).toBe(503);
  expect(headers.connection).toBe('close');
  expect(json().error).toMatchObject({ message: 'the server is stopping', lorekeep: { code: 1008 } });
});

it('with a certificate the doors speak TLS, under the names of the certificate', async () => {
  const { tls_cert, tls_key } = certificateFiles();
  await expect(door({ tls_cert })).rejects.toThrow(/http\.tls_cert, http\.tls_key: both/);
  await expect(door({ tls_cert: tls_key, tls_key })).rejects.toThrow(/http\.tls_cert: .*no certificate/);
  // A fault of the operator's files is told by the file, in one line.
  const folder = dirname(tls_key);
  const file = (name: string, content: string | Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const passphrase = { cipher: 'aes-256-cbc', passphrase: 'secret' };
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  const faults: [fields: { tls_cert?: string; tls_key?: string }, message: RegExp][] = [
    [{ tls_key: file('other.pem', privateKey.export(pem)) }, /tls_key: .*other\.pem: is the key of another/],
    [
      { tls_key: file('locked.pem', privateKey.export({ ...pem, ...passphrase })) },
      /locked\.pem: .*passphrase/,
    ],
    [{ tls_key: file('junk.pem', 'junk') }, /tls_key: .*junk\.pem: is no private key in PEM/],
    [
      { tls_cert: file('cert.der', new X509Certificate(certificate).raw) },
      /cert\.der: is no certificate in PEM/,
    ],
    [
      { tls_cert: file('chain.pem', `${certificate}${certificate.slice(0, 100)}`) },
      /chain\.pem: cannot be used/,
    ],
    [{ tls_cert: file('empty.pem', '') }, /empty\.pem: is no certificate in PEM/],
  ];
  for (const [fields, message] of faults) {
    const failed = await door({ tls_cert, tls_key, ...fields }).catch((error: Error) => error);
    expect(failed).toBeInstanceOf(StartupError);
    expect((failed as Error).message).toMatch(message);
  }
  const { port } = await door({ tls_cert, tls_key });
  const statusFor = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port,
        path: '/v1/storages',
        ca: certificate,
        servername: 'lorekeep.test',
        headers: { host },
        agent: false,
      };
      secureRequest(options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  expect(await statusFor('lorekeep.test')).toBe(200);
  expect(await statusFor('evil.example')).toBe(403);
  expect(await raw(port, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')).not.toContain('200');
});
