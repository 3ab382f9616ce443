// Readers of what other programs send besides requests: frames of WebSockets, and rows of a database. See list.mjs.
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { metadataOf } from '../../../dist/src/knowledge/postgres/metadata.js';
import { FrameStream } from '../../../dist/src/protocol/frame-stream.js';
import { refused, words } from './parts.mjs';

const mib = 1024 * 1024;
const { Receiver } = createRequire(import.meta.url)('ws');
/** Bytes that arrive at once. */
const packet = 65_536;

/** A masked frame of a client, whose mask changes nothing. */
const frame = (first, payload) => {
  const { length } = payload;
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 255];
  return `${String.fromCharCode(first, ...size)}\0\0\0\0${payload}`;
};
const [text, binary, more, last, close, ping, pong] = [0x81, 0x82, 0x00, 0x80, 0x88, 0x89, 0x8a];

export const sockets = [
  {
    name: 'frames of WebSockets',
    limit: 4 * mib,
    tokens: [
      frame(text, '{"type":"Ping","id":1}'),
      frame(0x01, ''),
      frame(0x01, '{'),
      frame(more, ''),
      frame(more, ' '),
      frame(more, 'é'),
      frame(last, '}'),
      frame(binary, '\0\0\0\x01\0\0\0\x01'),
      frame(ping, ''),
      frame(ping, 'a'.repeat(125)),
      frame(pong, 'a'),
      frame(close, '\x03\xe8bye'),
      frame(text, 'a'.repeat(300)),
      '\x81\xff\0\0\0\0\0\x10\0\0\0\0\0\0',
      '\x01\xff\0\0\0\0\0\x10\0\0\0\0\0\0',
      '\0',
      '\xff',
    ],
    seeds: [
      { head: frame(0x01, '{'), unit: frame(more, ' ') },
      { head: frame(0x01, '{'), unit: frame(more, '') },
      { head: frame(0x01, '{'), unit: `${frame(more, ' ')}${frame(ping, 'a')}` },
      { head: '\x81\xff\0\0\0\0\0\x3f\0\0\0\0\0\0', unit: 'a' },
      { head: '\x81\xff\0\0\0\0\0\x3f\0\0\0\0\0\0', unit: '\xe8\x9c\x9c' },
    ],
    read: async (content) => {
      const socket = Object.assign(new EventEmitter(), { OPEN: 1, readyState: 1, pause() {}, resume() {} });
      Object.assign(socket, { pong: (_, __, sent) => setImmediate(sent), terminate() {}, close() {} });
      const transport = new EventEmitter();
      const receiver = new Receiver({ isServer: true, maxPayload: 64 * mib, maxBufferedChunks: 16_384 });
      const stream = new FrameStream(socket, transport);
      let refusal;
      for (const event of ['message', 'ping', 'pong'])
        receiver.on(event, (data, isBinary) => socket.emit(event, data, isBinary));
      receiver.on('conclude', () => receiver.removeAllListeners());
      receiver.on('error', (error) => {
        refusal = error;
      });
      stream.on('error', () => {});
      stream.on('data', () => {});
      transport.on('data', (bytes) => receiver.write(bytes));
      const all = Buffer.from(content, 'latin1');
      for (let at = 0; at < all.length && refusal === undefined; at += packet) {
        await nextTurn();
        transport.emit('data', all.subarray(at, at + packet));
      }
      await nextTurn();
      stream.destroy();
    },
  },
];

const fields = [
  { name: 'y', type: 'int', optional: true },
  { name: 's', type: 'set<string>', optional: true },
  { name: 't', type: 'string', optional: true },
];

export const databases = [
  {
    name: 'metadata of rows of a database',
    limit: 65_536,
    tokens: [
      ...words('{ } [ ] , : "y" "s" "t" 1 -12345678901234567890 "a" "\\\\" "\\u0000" null 1e9 1.5'),
      '"s":["a"],',
    ],
    seeds: [
      { head: '{"s":[', unit: '"a",', tail: '"b"]}' },
      { head: '{"x":[', unit: '12345678901234567890,', tail: '1],"y":1}' },
      { head: '{"t":"', unit: '\\"', tail: '"}' },
      { head: '{"x":', unit: '[', tail: '1', close: ']' },
    ],
    read: (json) => refused(() => metadataOf(json, fields)),
  },
];
