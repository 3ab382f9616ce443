/** Messages of the operator's socket. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ask, endedCode } from '../../src/knowledge/operator/peers.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();

test.each([[''], ['{"result":']])(
  'a process that is killed after %j of its reply is an error',
  async (begun) => {
    const path = file(`${process.pid}-${begun.length}.sock`);
    const server = createServer({ allowHalfOpen: true }, (socket) =>
      socket.once('data', () => socket.end(begun)),
    );
    onTestFinished(() => void server.close());
    await once(server.listen(path), 'listening');
    const error = await ask(path, { op: 'hello' }, undefined).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining('the connection was closed') });
    expect(endedCode(error)).toBe('ECONNRESET');
  },
);
