import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionLostError, connect } from '../../src/client/index.js';
import { encodeFrame } from '../../src/protocol/encoder.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { corpus, strings } from './corpus.js';
import type { RawClient } from './raw-client.js';
import { TestServer } from './test-server.js';

const docs = { name: 'docs', strings, embedding_model: 'tiny' };
const clientDocs = { name: 'docs', strings, embeddingModel: 'tiny' };
/** Enough strings that their embedding takes a while. */
const many = Array.from({ length: 6000 }, (_, index) => `${corpus[index % corpus.length]?.text} ${index}`);

const replyTo = (id: number | string) => (frame: object) => 'reply_to' in frame && frame.reply_to === id;
const frame = (value: object) => encodeFrame(value, 1e9);

async function sessionOf(raw: RawClient): Promise<string> {
  const reply = await raw.request<ServerFrames['CreateSessionResponse']>({
    type: 'CreateSessionRequest',
    id: 'session',
  });
  return reply.session_id;
}

/** Resolves when the server has nothing left of any client. */
async function drained({ server }: TestServer): Promise<void> {
  while (server.connections > 0) await new Promise(setImmediate);
}

describe('a connection', () => {
  it('is greeted with Hello', async () => {
    const client = await (await TestServer.start()).connect();
    expect(client.hello).toMatchObject({ type: 'Hello', protocol: 1, server: 'lorekeep' });
    expect(client.hello.version).toMatch(/^\d+\.\d+\.\d+/);
    await client.ping();
  });

  it('answers out of order: a ping overtakes the making of a storage', async () => {
    const raw = await (await TestServer.start()).raw();
    const session_id = await sessionOf(raw);
    const slow = { type: 'CreateEmbeddedStringStorageRequest', id: 1, session_id, ...docs, strings: many };
    raw.send(slow, { type: 'Ping', id: 2 });
    const [created, pong] = await Promise.all([raw.next(replyTo(1)), raw.next(replyTo(2))]);
    expect(created).toMatchObject({ record_count: many.length });
    expect(raw.received.indexOf(pong)).toBeLessThan(raw.received.indexOf(created));
  });

  it('answers a ping before other requests that came with it, which keep their order', async () => {
    const raw = await (await TestServer.start()).raw();
    const requests = [1, 2, 3, 4].map((id) => ({ type: 'CreateSessionRequest', id }));
    raw.send(...requests, { type: 'Ping', id: 5 });
    await Promise.all([1, 2, 3, 4, 5].map((id) => raw.next(replyTo(id))));
    const replies = raw.received.flatMap((reply) => ('reply_to' in reply ? [reply.reply_to] : []));
    expect(replies).toEqual([5, 1, 2, 3, 4]);
  });

  it('answers what came before bytes that are no frame', async () => {
    const raw = await (await TestServer.start()).raw();
    raw.bytes(Buffer.concat([frame({ type: 'CreateSessionRequest', id: 1 }), Buffer.from('GET / HTTP/1.1')]));
    expect(await raw.next(replyTo(1))).toMatchObject({ type: 'CreateSessionResponse' });
    expect(await raw.next(replyTo(null as never))).toMatchObject({ code: 1001 });
  });

  it('keeps requests in order where one names what another makes', async () => {
    const raw = await (await TestServer.start()).raw();
    const session_id = await sessionOf(raw);
    const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, ...docs };
    const search = { type: 'SearchEmbeddedStringStorageRequest', session_id, name: 'docs', text: 'bees' };
    const destroy = { type: 'DestroyEmbeddedStringStorageRequest', session_id, name: 'docs' };
    raw.send(
      { ...create, id: 1 },
      { ...search, id: 2 },
      { ...destroy, id: 3 },
      { ...search, id: 4 },
      { ...create, id: 5, strings: ['bees'] },
      { ...search, id: 6 },
    );
    const replies = await Promise.all([1, 2, 3, 4, 5, 6].map((id) => raw.next(replyTo(id))));
    expect(replies).toMatchObject([
      { record_count: strings.length },
      { plan: { dense: { matched: strings.length } } },
      { type: 'Ack' },
      { type: 'Error', code: 8005 },
      { record_count: 1 },
      { plan: { dense: { matched: 1 } } },
    ]);
  });

  it('cannot see the sessions and storages of another', async () => {
    const server = await TestServer.start();
    const [one, other] = [await server.session(), await server.session()];
    await one.createEmbeddedStringStorage({ ...clientDocs, strings: ['mine'] });
    await other.createEmbeddedStringStorage(clientDocs);
    expect((await one.search({ name: 'docs', text: 'bees' })).plan.dense?.matched).toBe(1);
    expect((await other.search({ name: 'docs', text: 'bees' })).plan.dense?.matched).toBe(strings.length);
    await one.destroy();
    expect((await other.search({ name: 'docs', text: 'bees' })).hits).not.toHaveLength(0);
  });

  it('survives every bad request', async () => {
    const raw = await (await TestServer.start()).raw();
    const payload = (bytes: Buffer, kind = 1) => {
      const head = Buffer.from([kind, 0, 0, 0, 0]);
      head.writeUInt32BE(bytes.length, 1);
      return Buffer.concat([head, bytes]);
    };
    raw.bytes(payload(Buffer.alloc(0)));
    raw.bytes(payload(Buffer.from('{"type":"Ping","id":1')));
    raw.bytes(payload(Buffer.from([0x7b, 0xff, 0x7d])));
    raw.bytes(payload(Buffer.from('[1]')));
    raw.bytes(payload(Buffer.from('[['.repeat(1000))));
    raw.bytes(payload(Buffer.from([1, 2, 3]), 2));
    raw.send({ type: 'Pong', id: 7 }, { type: 'Ping' }, { type: 'Ping', id: 8, extra: 1 });
    expect(await raw.request({ type: 'Ping', id: 9 })).toMatchObject({ type: 'Pong' });
    const errors = raw.received.filter((reply) => reply.type === 'Error');
    expect(errors.map(({ reply_to, code }) => [reply_to, code])).toEqual([
      [null, 1001],
      [1, 1001],
      [null, 1001],
      [null, 1001],
      [null, 1001],
      [null, 7003],
      [7, 1002],
      [null, 1004],
      [8, 1004],
    ]);
  });

  it('survives random payloads, and one after the other is answered', async () => {
    const raw = await (await TestServer.start()).raw();
    const ping = Buffer.from(
      '{"type":"TurnRequest","id":1,"session_id":"s","agent_id":"a","text":"hello","variables":{}}',
    );
    const mutated = fc
      .array(fc.tuple(fc.nat(ping.length - 1), fc.nat(255)), { maxLength: 6 })
      .map((changes) => {
        const bytes = Buffer.from(ping);
        for (const [position, byte] of changes) bytes[position] = byte;
        return bytes;
      });
    const payloads = fc.sample(
      fc.oneof(
        mutated,
        fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      ),
      {
        numRuns: repetitions('PAYLOADS', 1000, 20_000),
        seed: testSeed,
      },
    );
    for (const bytes of payloads) {
      const head = Buffer.from([1, 0, 0, 0, 0]);
      head.writeUInt32BE(bytes.length, 1);
      raw.bytes(Buffer.concat([head, bytes]));
    }
    // A ping would overtake the last of them, which waits for a slice in which it begins.
    expect(await raw.request({ type: 'CreateSessionRequest', id: 'last' })).toMatchObject({
      type: 'CreateSessionResponse',
    });
    const errors = raw.received.filter((reply) => reply.type === 'Error');
    expect(errors, `seed ${testSeed}`).toHaveLength(payloads.length);
    expect(errors.filter(({ code }) => code === 1009)).toEqual([]);
  });

  it('is told why and closed when its framing is lost', async () => {
    const server = await TestServer.start();
    const http = await server.raw();
    http.bytes(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    expect(await http.next((reply) => reply.type === 'Error')).toMatchObject({ reply_to: null, code: 1001 });
    await http.closed;
    const large = await server.raw();
    large.bytes(Buffer.from([1, 0x7f, 0xff, 0xff, 0xff]));
    expect(await large.next((reply) => reply.type === 'Error')).toMatchObject({ reply_to: null, code: 1003 });
    await large.closed;
    await drained(server);
  });

  it('is not closed by a reply that is too large: its request gets 1003', async () => {
    const server = await TestServer.start({ config: { max_frame_mb: 1 } });
    const raw = await server.raw();
    const session_id = await sessionOf(raw);
    // The request just fits; its hits carry ranks and scores besides.
    const long = Array.from({ length: 1000 }, (_, index) => `bee ${index} ${'\u0001'.repeat(165)}`);
    const create = { type: 'CreateEmbeddedStringStorageRequest', id: 1, session_id, ...docs, strings: long };
    expect(await raw.request(create)).toMatchObject({ record_count: 1000 });
    const search = {
      type: 'SearchEmbeddedStringStorageRequest',
      session_id,
      name: 'docs',
      text: 'bee',
      mode: 'lexical',
    };
    expect(await raw.request({ ...search, id: 2, top_k: 1000 })).toMatchObject({ type: 'Error', code: 1003 });
    expect(await raw.request({ ...search, id: 4, top_k: 10 })).toMatchObject({ hits: { length: 10 } });
    expect(await raw.request({ type: 'Ping', id: 3 })).toMatchObject({ type: 'Pong' });
  });
});

describe('a client that', () => {
  it('never reads is not served without bound, and is dropped after a while', async () => {
    const unsentBytes = 256 * 1024;
    const server = await TestServer.start({ limits: { unsentBytes, stallMs: 300 } });
    const raw = await server.raw();
    const session_id = await sessionOf(raw);
    await raw.request({ type: 'CreateEmbeddedStringStorageRequest', id: 1, session_id, ...docs });
    const before = process.memoryUsage().rss;
    raw.socket.pause();
    const search = {
      type: 'SearchEmbeddedStringStorageRequest',
      session_id,
      name: 'docs',
      text: 'bees',
      top_k: 12,
    };
    const request = frame({ ...search, id: 2, mode: 'lexical' });
    const block = Buffer.concat(Array.from({ length: 500 }, () => request));
    let sent = 0;
    while (!raw.socket.destroyed && sent < 200 * 1024 * 1024) {
      sent += block.length;
      if (raw.socket.write(block)) continue;
      await Promise.race([once(raw.socket, 'drain'), raw.closed]).catch(() => {});
    }
    await drained(server);
    expect(sent).toBeLessThan(200 * 1024 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('reads late gets every reply', async () => {
    const server = await TestServer.start({ limits: { unsentBytes: 16 * 1024, requests: 4 } });
    const raw = await server.raw();
    raw.socket.pause();
    raw.send(...Array.from({ length: 20_000 }, (_, id) => ({ type: 'Ping', id })));
    raw.send({ type: 'Ping', id: 'last' });
    raw.socket.resume();
    await raw.next(replyTo('last'));
    expect(raw.received.filter(({ type }) => type === 'Pong')).toHaveLength(20_001);
  });

  it('vanishes while its storage is being made leaves nothing behind', async () => {
    const server = await TestServer.start();
    const raw = await server.raw();
    const session_id = await sessionOf(raw);
    raw.send({ type: 'CreateEmbeddedStringStorageRequest', id: 1, session_id, ...docs, strings: many });
    await raw.request({ type: 'Ping', id: 2 });
    raw.socket.resetAndDestroy();
    await drained(server);
    const after = await server.session();
    expect(await after.createEmbeddedStringStorage(clientDocs)).toMatchObject({
      recordCount: strings.length,
    });
  });

  it('destroys its session while a storage is being made gets 2002 for it', async () => {
    const raw = await (await TestServer.start()).raw();
    const session_id = await sessionOf(raw);
    raw.send(
      { type: 'CreateEmbeddedStringStorageRequest', id: 1, session_id, ...docs, strings: many },
      { type: 'SearchEmbeddedStringStorageRequest', id: 2, session_id, name: 'docs', text: 'bees' },
      { type: 'DestroySessionRequest', id: 3, session_id },
    );
    const replies = await Promise.all([1, 2, 3].map((id) => raw.next(replyTo(id))));
    const ended = { type: 'Error', code: 2002, name: 'SessionEnded' };
    expect(replies).toMatchObject([ended, ended, { type: 'Ack' }]);
    expect(await raw.request({ type: 'DestroySessionRequest', id: 4, session_id })).toMatchObject({
      code: 2001,
    });
  });
});

describe('a server that stops', () => {
  it('ends what is under way with 1008, and its clients notice', async () => {
    const server = await TestServer.start();
    const client = await server.connect();
    const session = await client.createSession();
    const creating = session.createEmbeddedStringStorage({ ...clientDocs, strings: many });
    const failed = creating.catch((error: unknown) => error);
    await client.ping();
    await Promise.all([server.server.close(), server.server.close()]);
    expect(await failed).toMatchObject({ code: 1008, name: 'ServerShuttingDown' });
    await client.closed;
    await expect(client.ping()).rejects.toBeInstanceOf(ConnectionLostError);
    await expect(connect({ port: 1 })).rejects.toBeInstanceOf(ConnectionLostError);
  });

  it('leaves its port to the next one; two at once cannot have it', async () => {
    const first = await TestServer.start();
    const { port } = first;
    await expect(TestServer.start({ config: { port } })).rejects.toThrow(
      `port ${port} on 127.0.0.1 is in use`,
    );
    await first.server.close();
    await TestServer.start({ config: { port } });
  });
});
