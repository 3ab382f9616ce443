import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { piecesOf } from '../../src/cli/records/through-process.js';
import { longestRequest, readLine, writeReply } from '../../src/knowledge/operator/lines.js';

it('tells other processes of forgotten texts in pieces that a request can carry', () => {
  expect(piecesOf([])).toEqual([[]]);
  expect(piecesOf(['one', 'two', 'three'], 6)).toEqual([['one', 'two'], ['three']]);
  expect(piecesOf(['longer than six', '', 'x'], 6)).toEqual([['longer than six'], ['', 'x']]);
});

it('reads a reply that is longer than any request: its records are forgotten already', async () => {
  const text = 'a'.repeat(longestRequest);
  await using server = createServer((socket) => writeReply(socket, { result: text }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const reply = (await readLine(socket, 2 * longestRequest)) as { result: string };
  socket.destroy();
  expect(reply.result.length).toBe(text.length);
});
