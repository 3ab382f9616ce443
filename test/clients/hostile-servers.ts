import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Servers that keep no protocol, by name. A client connects to each and sends a Ping. */

const framed = (payload: Buffer | string, kind = 1): Buffer => {
  const body = Buffer.from(payload);
  const header = Buffer.from([kind, 0, 0, 0, 0]);
  header.writeUInt32BE(body.length, 1);
  return Buffer.concat([header, body]);
};

const frame = (value: object): Buffer => framed(JSON.stringify(value));
const hello = frame({ type: 'Hello', protocol: 1, server: 'lorekeep', version: 'x' });
const half = framed(Buffer.alloc(100, 'x')).subarray(0, 15);

/** Greets, and then answers the first bytes. */
const greeting = (answer: (socket: Socket) => void) => (socket: Socket) => {
  socket.write(hello);
  socket.once('data', () => answer(socket));
};

const sending = (bytes: Buffer) => greeting((socket) => socket.write(bytes));

const servers: Readonly<Record<string, (socket: Socket) => void>> = {
  garbage: (socket) =>
    socket.write(Buffer.from(Array.from({ length: 1000 }, (_, index) => (index * 7919) % 251))),
  http: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  newer: (socket) => socket.write(frame({ type: 'Hello', protocol: 2, server: 'lorekeep', version: 'x' })),
  deep: (socket) => {
    const value = '['.repeat(200_000) + ']'.repeat(200_000);
    socket.write(framed(`{"type":"Hello","protocol":1,"server":"lorekeep","version":"x","x":${value}}`));
  },
  silent: () => {},
  too_long: sending(Buffer.from([1, 0x7f, 0xff, 0xff, 0xff])),
  kind: sending(framed('{}', 77)),
  half: greeting((socket) => socket.end(half)),
  stall: sending(half),
  closing: greeting((socket) => socket.end()),
  fields: sending(frame({ type: 'Error', reply_to: 1 })),
  nan: sending(framed('{"type":"Pong","reply_to":1,"x":NaN}')),
  infinity: sending(framed('{"type":"Pong","reply_to":1,"x":-Infinity}')),
  empty: sending(framed('')),
  text_id: sending(framed('{"type":"Error","reply_to":"1","code":"x","name":1,"message":[],"details":0}')),
  tail: sending(framed('{"type":"Pong","reply_to":1} x')),
  utf8: sending(
    framed(
      Buffer.concat([
        Buffer.from('{"type":"Pong","reply_to":1,"x":"'),
        Buffer.from([0xff]),
        Buffer.from('"}'),
      ]),
    ),
  ),
  list: sending(framed('[1]')),
  ended: sending(
    frame({
      type: 'Error',
      reply_to: null,
      code: 1008,
      name: 'ServerShuttingDown',
      message: 'm',
      details: {},
    }),
  ),
  mute: greeting(() => {}),
  // A server like others, over a network that gives a byte at a time.
  drip: (socket) => {
    drip(socket, hello, () => {
      socket.once('data', () => drip(socket, frame({ type: 'Pong', reply_to: 1 }), () => {}));
    });
  },
};

function drip(socket: Socket, bytes: Buffer, then: () => void): void {
  if (bytes.length === 0) then();
  else socket.write(bytes.subarray(0, 1), () => setImmediate(() => drip(socket, bytes.subarray(1), then)));
}

export const hostileNames: readonly string[] = Object.keys(servers);

/** Starts all of them; their ports by name. */
export async function startHostileServers(): Promise<Record<string, number>> {
  const ports: Record<string, number> = {};
  for (const [name, serve] of Object.entries(servers)) {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.setNoDelay(true);
      serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    ports[name] = (server.address() as { port: number }).port;
  }
  return ports;
}
