import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { awaitFirstByte } from '../../src/server/first-byte.js';
import { door } from './door-setting.js';
import { open, raw } from './raw-request.js';

it('an HTTP request at the TCP port is answered in HTTP, with the address of the doors', async () => {
  const { server, port } = await door();
  const received = await raw(server.port, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/8\r\n\r\n');
  expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(received).toContain(`http://127.0.0.1:${port}/v1/`);
});

it('an HTTP request that arrives while the server is busy is answered in HTTP, too', async () => {
  const server = createServer((socket) => {
    awaitFirstByte(socket, {
      accept: () => socket.end('greeted'),
      isRefused: () => false,
      httpAnswer: () => 'not HTTP',
    });
    const end = performance.now() + 30;
    while (performance.now() < end);
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  for (let n = 0; n < 5; n++) expect(await raw(port, 'GET / HTTP/1.1\r\n\r\n')).toContain('not HTTP');
});

it('a TCP client that sends at once, byte by byte, or only after the greeting, is served', async () => {
  const { server } = await door();
  const frame = Buffer.concat([Buffer.from([1, 0, 0, 0, 22]), Buffer.from('{"type":"Ping","id":1}')]);
  const pong = async (send: (socket: Socket) => Promise<void>) => {
    const socket = await open(server.port);
    let received = '';
    const answered = new Promise<void>((resolve) =>
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
        if (received.includes('"Pong"')) resolve();
      }),
    );
    await send(socket);
    await answered;
    expect(received.indexOf('"Hello"')).toBeLessThan(received.indexOf('"Pong"'));
  };
  await pong(async (socket) => void socket.write(frame));
  await pong(async (socket) => {
    for (const byte of frame) {
      socket.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
  });
  await pong(async (socket) => {
    await once(socket, 'data');
    socket.write(frame);
  });
});
