import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hostPort } from '../../../src/knowledge/postgres/connection.js';
import { PostgresConnections } from '../../../src/knowledge/postgres/connections.js';
import { EngineError } from '../../../src/knowledge/postgres/engine-error.js';

const message = (type: string, body: Buffer) => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const integers = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, 4 * index);
  return bytes;
};

/** The number by which a client asks for a cancellation. */
const cancelCode = 80_877_102;
const key = [4711, 815] as const;

interface StandIn {
  readonly port: number;
  readonly cancelled: number[][];
  readonly begun: number;
}

/** A server that lets everybody in, and does what `onStatement` does with the socket of each statement. */
async function standIn(onStatement: (socket: Socket, count: number) => void): Promise<StandIn> {
  const state = { port: 0, cancelled: [] as number[][], begun: 0 };
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    let isIn = false;
    socket.on('data', (data) => {
      if (isIn) {
        state.begun++;
        return onStatement(socket, state.begun);
      }
      if (data.readInt32BE(4) === cancelCode) {
        state.cancelled.push([data.readInt32BE(8), data.readInt32BE(12)]);
        return socket.end();
      }
      isIn = true;
      const ready = [
        message('R', integers(0)),
        message('K', integers(...key)),
        message('Z', Buffer.from('I')),
      ];
      socket.write(Buffer.concat(ready));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  state.port = (server.address() as { port: number }).port;
  return state;
}

function clientOf({ port }: StandIn, more: object = {}) {
  const connections = new PostgresConnections({
    main: { hosts: [`127.0.0.1:${port}`], database: 'd', user: 'u', tls: 'off', serves: ['public'], ...more },
  });
  onTestFinished(() => connections.close());
  return connections.find({ connection: 'main', table: 'kb' }, 'kb.json').client;
}

const statement = { text: 'select 1', values: [] };
const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: unknown) => error,
  );

describe('a connection', () => {
  it('cancels the statement of a search that is cancelled, at the server', async () => {
    const server = await standIn(() => {});
    const controller = new AbortController();
    const reading = reasonOf(clientOf(server).read(statement, controller.signal));
    await expect.poll(() => server.begun).toBe(1);
    const reason = new Error('the turn was cancelled');
    controller.abort(reason);
    expect(await reading).toBe(reason);
    await expect.poll(() => server.cancelled).toEqual([[...key]]);
  });

  it('cancels a statement that takes longer than it may', async () => {
    const server = await standIn(() => {});
    const error = await reasonOf(clientOf(server, { timeout_ms: 200 }).read(statement));
    expect(String(error)).toContain('no answer within 200 ms; raise "timeout_ms"');
    await expect.poll(() => server.cancelled.length).toBe(1);
  });

  it('sends a statement that reads three times while its connection breaks', async () => {
    const server = await standIn((socket) => socket.destroy());
    const error = await reasonOf(clientOf(server).read(statement));
    expect(error).toBeInstanceOf(EngineError);
    expect(String(error)).toContain('no server answers');
    expect(server.begun).toBe(3);
  });

  it('sends a change once', async () => {
    const server = await standIn((socket) => socket.destroy());
    const changing = clientOf(server).transaction(async (run) => run('update t set a = 1'));
    expect(await reasonOf(changing)).toBeInstanceOf(EngineError);
    expect(server.begun).toBe(1);
  });

  it('reads hosts and ports', () => {
    expect(hostPort('db.example')).toEqual({ host: 'db.example', port: 5432 });
    expect(hostPort('[::1]:5433')).toEqual({ host: '::1', port: 5433 });
    for (const wrong of ['', 'a b', 'http://x', 'x:0', 'x:70000', 'u@h', 'h/db', '[::1', 'h?x=1'])
      expect(hostPort(wrong), wrong).toBeUndefined();
  });
});
