import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { encodeFrame } from '../../src/protocol/encoder.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { handlers } from '../../src/server/handlers.js';
import { strings } from './corpus.js';
import type { RawClient } from './raw-client.js';
import { retrieveGraph, TestServer } from './test-server.js';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of buffers that something refers to. */
async function heldBytes(): Promise<number> {
  // Buffers are freed by a thread of their own, which the next collection waits for.
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().arrayBuffers;
}

const ping = (id: number) => encodeFrame({ type: 'Ping', id }, 1e6);
const isError = ({ type }: { type: string }) => type === 'Error';

/** Resolves when a client that began a frame has been dropped `times` times: how long that takes is the server's clock. */
async function dropped(server: TestServer, times = 1): Promise<void> {
  for (let count = 0; count < times; count++) {
    const clock = await server.raw();
    clock.bytes(Buffer.from([1]));
    await clock.closed;
  }
}

describe('a client that does not finish a frame', () => {
  const framed = {
    type: 'Error',
    reply_to: null,
    code: 1006,
    name: 'FrameTimeout',
    details: { limit_ms: 200 },
  };

  it.each([
    ['one byte', Buffer.from([1])],
    ['a header', Buffer.from([1, 0, 0, 1, 0])],
    ['half a payload', ping(1).subarray(0, 12)],
    ['a whole frame and a byte', Buffer.concat([ping(1), Buffer.from([1])])],
  ])('after %s is told so and dropped', async (_, bytes) => {
    const raw = await (await TestServer.start({ limits: { frameMs: 200 } })).raw();
    raw.bytes(bytes);
    expect(await raw.next(isError)).toMatchObject(framed);
    await raw.closed;
  });

  it('but sends a byte now and then is dropped too', async () => {
    const raw = await (await TestServer.start({ limits: { frameMs: 200 } })).raw();
    raw.bytes(Buffer.from([1, 0, 0, 4, 0]));
    const dripping = setInterval(() => raw.bytes(Buffer.from(' ')), 20);
    try {
      expect(await raw.next(isError)).toMatchObject(framed);
      await raw.closed;
    } finally {
      clearInterval(dripping);
    }
  });

  it('loses what it had, and the server keeps nothing of it', async () => {
    const server = await TestServer.start({ limits: { frameMs: 200 } });
    const raw = await server.raw();
    const session = { type: 'CreateSessionRequest', id: 1 };
    const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>(session);
    const docs = { session_id, name: 'docs', strings, embedding_model: 'tiny' };
    await raw.request({ type: 'CreateEmbeddedStringStorageRequest', id: 2, ...docs });
    raw.bytes(ping(3).subarray(0, 9));
    await raw.closed;
    while (server.server.connections > 0) await new Promise(setImmediate);
  });
});

describe('a client is not dropped', () => {
  it('for being silent between frames', async () => {
    const server = await TestServer.start({ limits: { frameMs: 100 } });
    const [silent, spoken] = [await server.raw(), await server.raw()];
    await spoken.request({ type: 'Ping', id: 1 });
    await dropped(server, 4);
    expect(await silent.request({ type: 'Ping', id: 2 })).toMatchObject({ type: 'Pong' });
    expect(await spoken.request({ type: 'Ping', id: 3 })).toMatchObject({ type: 'Pong' });
  });

  it('while it sends frame after frame, wherever its packets end', async () => {
    const server = await TestServer.start({ limits: { frameMs: 500 } });
    const raw = await server.raw();
    let running = true;
    const clock = dropped(server, 2).then(() => {
      running = false;
    });
    let sent = 0;
    let rest = Buffer.alloc(0);
    while (running) {
      const bytes = Buffer.concat([rest, ping(sent), ping(sent + 1)]);
      raw.bytes(bytes.subarray(0, bytes.length - 3));
      rest = bytes.subarray(bytes.length - 3);
      sent += 2;
      await raw.next((reply) => 'reply_to' in reply && reply.reply_to === sent - 2);
    }
    await clock;
    raw.bytes(rest);
    expect(await raw.request({ type: 'Ping', id: 'last' })).toMatchObject({ type: 'Pong' });
    expect(raw.received.filter(({ type }) => type === 'Pong')).toHaveLength(sent + 1);
  });

  it('for a frame that the server itself does not read, being busy with earlier ones', async () => {
    const server = await TestServer.start({ limits: { frameMs: 500, requests: 1 } });
    const raw = await server.raw();
    let letGo = () => {};
    const busy = vi.spyOn(handlers, 'CreateSessionRequest').mockImplementation(async () => {
      await new Promise<void>((resolve) => {
        letGo = resolve;
      });
      return { type: 'CreateSessionResponse', session_id: 's1' };
    });
    onTestFinished(() => busy.mockRestore());
    raw.send({ type: 'CreateSessionRequest', id: 2 });
    raw.bytes(ping(3).subarray(0, 10));
    await dropped(server, 2);
    letGo();
    await raw.next((reply) => 'reply_to' in reply && reply.reply_to === 2);
    raw.bytes(ping(3).subarray(10));
    expect(await raw.next((reply) => 'reply_to' in reply && reply.reply_to === 3)).toMatchObject({
      type: 'Pong',
    });
  });
});

describe('a client that does not read', () => {
  const hits = 500;
  const long = Array.from({ length: hits }, (_, index) => `bee ${index} ${'\u0001'.repeat(200)}`);
  const asked = 60;

  async function sessionWithStorage(raw: RawClient): Promise<string> {
    const session = { type: 'CreateSessionRequest', id: 'session' };
    const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>(session);
    const create = { type: 'CreateEmbeddedStringStorageRequest', id: 'docs', session_id };
    await raw.request({ ...create, name: 'docs', strings: long, embedding_model: 'tiny' });
    return session_id;
  }

  /** Asks for about 36 MB, does not read, and gives what the server holds for it once another client had its turn. */
  async function held(server: TestServer, raw: RawClient, frames: object[]): Promise<number> {
    const before = await heldBytes();
    raw.socket.pause();
    raw.send(...frames);
    const other = await server.session();
    await other.createEmbeddedStringStorage({ name: 'docs', strings: long, embeddingModel: 'tiny' });
    for (let search = 0; search < asked; search++) {
      await other.search({ name: 'docs', text: 'bee', mode: 'lexical', topK: hits });
    }
    return (await heldBytes()) - before;
  }

  it('makes the server hold a few replies, not all that it asked for, and gets them when it reads', async () => {
    const server = await TestServer.start({ limits: { unsentBytes: 256 * 1024, producers: 4 } });
    const raw = await server.raw();
    const session_id = await sessionWithStorage(raw);
    const search = { type: 'SearchEmbeddedStringStorageRequest', session_id, name: 'docs', text: 'bee' };
    const frames = Array.from({ length: asked }, (_, id) => ({
      ...search,
      id,
      mode: 'lexical',
      top_k: hits,
    }));
    expect(await held(server, raw, frames)).toBeLessThan(12 * 1024 * 1024);
    raw.socket.resume();
    for (let id = 0; id < asked; id++) {
      const reply = await raw.next((frame) => 'reply_to' in frame && frame.reply_to === id);
      expect(reply).toMatchObject({ hits: { length: hits } });
    }
  });

  it('makes turns of many agents wait, and gets every TurnComplete when it reads', async () => {
    const config = { include_interaction_in_diagnostics: true };
    const server = await TestServer.start({ config, limits: { unsentBytes: 256 * 1024, producers: 4 } });
    const raw = await server.raw();
    const session_id = await sessionWithStorage(raw);
    const graph = retrieveGraph({ mode: 'lexical', top_k: hits });
    const create = { type: 'CreateAgentRequest', session_id, graph, enable_diagnostics: true };
    const agents = await Promise.all(
      Array.from({ length: 20 }, (_, id) =>
        raw.request<ServerFrames['CreateAgentResponse']>({ ...create, id: `agent${id}` }),
      ),
    );
    const frames = agents.flatMap(({ agent_id }, agent) =>
      [0, 1, 2].map((turn) => ({
        type: 'TurnRequest',
        id: 3 * agent + turn,
        session_id,
        agent_id,
        text: 'bee',
      })),
    );
    expect(await held(server, raw, frames)).toBeLessThan(12 * 1024 * 1024);
    raw.socket.resume();
    for (let turn = 1; turn <= asked; turn++) {
      const complete = await raw.next<ServerFrames['TurnComplete']>(
        (frame) => frame.type === 'TurnComplete' && frame.turn_id === `${session_id}.t${turn}`,
      );
      expect(complete.status).toBe('completed');
      expect(complete.diagnostics?.interaction).toHaveLength(hits + 1);
    }
  });

  it('can cancel turns that wait for it, and leaves nothing when it vanishes', async () => {
    const server = await TestServer.start({ limits: { unsentBytes: 0, producers: 1 } });
    const raw = await server.raw();
    const session_id = await sessionWithStorage(raw);
    const graph = retrieveGraph({ mode: 'lexical', top_k: hits });
    const create = { type: 'CreateAgentRequest', id: 'agent', session_id, graph };
    const { agent_id } = await raw.request<ServerFrames['CreateAgentResponse']>(create);
    raw.socket.pause();
    const turn = { type: 'TurnRequest', session_id, agent_id, text: 'bee' };
    raw.send(
      { ...turn, id: 1 },
      { ...turn, id: 2 },
      { type: 'CancelTurnRequest', id: 3, session_id, turn_id: `${session_id}.t2` },
    );
    raw.socket.resume();
    expect(
      await raw.next((frame) => frame.type === 'TurnComplete' && frame.turn_id.endsWith('.t2')),
    ).toMatchObject({
      status: 'cancelled',
    });
    raw.socket.pause();
    raw.send(...Array.from({ length: 60 }, (_, id) => ({ ...turn, id: 10 + id })));
    raw.socket.resetAndDestroy();
    while (server.server.connections > 0) await new Promise(setImmediate);
  });
});
