import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import { isLoopback } from '../../src/http/guard.js';
import { EventStream, mostStreams } from '../../src/monitor/event-stream.js';
import { liveTurns } from '../../src/monitor/live-turns.js';
import { type TurnRecord, TurnRing } from '../../src/monitor/turn-ring.js';
import { TestServer } from '../server/test-server.js';

const facts = (turn: string, text = 'an answer') =>
  ({
    turn,
    status: 'completed',
    code: undefined,
    queuedMs: 0,
    durationMs: 1,
    nodes: [],
    engine: [],
    skipped: 0,
    hits: 0,
    citations: 0,
    components: [{ _type: 'character_reply', text }],
    message: 'a question',
    reply: text,
  }) as const;

const start = (fields: object = {}, config: object = {}) =>
  TestServer.start({ config: { monitor: { enabled: true, port: 0, ...fields }, ...config } });

function get(
  server: TestServer,
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', body = '' } = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const port = server.server.monitorPort;
    const sent = request({ host: '127.0.0.1', port, path, headers, method, agent: false }, resolve);
    onTestFinished(() => void sent.destroy());
    sent.on('error', reject).end(body);
  });
}

async function text(response: IncomingMessage): Promise<string> {
  let all = '';
  for await (const piece of response.setEncoding('utf8')) all += piece;
  return all;
}

/** Reads a stream until it contains a text. */
async function until(response: IncomingMessage, expected: string): Promise<string> {
  let all = '';
  response.setEncoding('utf8');
  while (!all.includes(expected)) all += String((await once(response, 'data'))[0]);
  return all;
}

it('the monitor listens only when it is enabled, on loopback', async () => {
  const off = await TestServer.start();
  expect(off.server.monitorPort).toBeUndefined();
  expect(off.server.observer).toBeUndefined();
  const server = await start();
  expect((await get(server, '/')).statusCode).toBe(200);
  for (const address of ['10.0.0.1', '192.168.1.5', '::ffff:10.0.0.1', '2001:db8::1', undefined])
    expect(isLoopback(address)).toBe(false);
  for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])
    expect(isLoopback(address)).toBe(true);
});

it('the monitor is open to other machines only with allow_remote', () => {
  const { monitor } = configSchema.parse({});
  expect(monitor).toMatchObject({ allow_remote: false, bind: '127.0.0.1' });
});

it('other web pages and names of an attacker are refused on every path', async () => {
  const server = await start();
  for (const path of ['/', '/app.js', '/api/state', '/api/stream', '/metrics']) {
    for (const headers of [
      { host: 'evil.example' },
      { origin: 'http://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ])
      expect((await get(server, path, headers as Record<string, string>)).statusCode).toBe(403);
  }
  const post = (headers: Record<string, string>, body: string) =>
    get(server, '/api/search', headers, { method: 'POST', body });
  expect((await post({ 'content-type': 'text/plain' }, '{}')).statusCode).toBe(415);
  const json = { 'content-type': 'application/json' };
  for (const body of ['', '{', '[]', '{"storage":"x"}', '{"storage":"x","text":"y"}'])
    expect((await post(json, body)).statusCode).toBe(400);
  const tooLong = await post(json, 'x'.repeat(300_000));
  expect([tooLong.statusCode, await text(tooLong)]).toEqual([413, expect.stringMatching(/262144 bytes/)]);
});

it('a page that reconnects gets the turns that it missed', async () => {
  const server = await start();
  const { observer } = server.server;
  for (const name of ['one', 'two', 'three']) observer?.turn?.(facts(name));
  const all = await until(await get(server, '/api/stream'), 'three');
  expect(all).toContain('"turn":"one"');
  const [, instance] = /"instance":"(\w+)"/.exec(all) ?? [];
  const missed = await until(await get(server, '/api/stream', { 'last-event-id': `${instance}-1` }), 'three');
  expect(missed).not.toContain('"turn":"one"');
  expect(missed).toContain('"turn":"two"');
});

it('a page that comes back after a restart of the server gets all turns of the new one', async () => {
  const server = await start();
  for (const name of ['one', 'two']) server.server.observer?.turn?.(facts(name));
  for (const id of ['another0-900', '900', 'x-', '-', '%00'])
    expect(await until(await get(server, '/api/stream', { 'last-event-id': id }), 'two')).toContain(
      '"turn":"one"',
    );
});

it('a page that opens late gets no more at a time than it reads', async () => {
  const stream = new EventStream();
  const reader = new Unread();
  let asked = 0;
  function* events() {
    for (; asked < 100; asked++) yield { name: 'turns', data: 'x'.repeat(10_000) };
  }
  expect(stream.open(reader as unknown as ServerResponse, events())).toBe(true);
  expect(reader.events).toBe(1);
  stream.send({ name: 'turns', data: 'later' });
  expect(reader.events).toBe(1);
  while (asked < 100) {
    reader.writableLength = 0;
    reader.emit('drain');
  }
  expect(reader.events).toBe(100);
  stream.send({ name: 'turns', data: 'later' });
  expect(reader.events).toBe(101);
  stream.close();
  expect(reader.destroyed).toBe(true);
});

it('a page that reads nothing of the kept turns gives up its place, a slow one keeps it', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stream = new EventStream();
  const kept = Array.from({ length: 10 }, () => ({ name: 'turns', data: 'x' }));
  const [still, slow] = [new Unread(), new Unread()];
  for (const reader of [still, slow]) stream.open(reader as unknown as ServerResponse, kept);
  for (let beat = 0; beat < 3; beat++) {
    vi.advanceTimersToNextTimer();
    slow.emit('drain');
  }
  expect([still.destroyed, slow.destroyed]).toEqual([true, false]);
  expect(stream.readers).toBe(1);
  stream.close();
});

it('streams beyond the limit are refused, and places of closed ones are free again', async () => {
  const server = await start();
  const streams: IncomingMessage[] = [];
  for (let n = 0; n < mostStreams; n++) streams.push(await get(server, '/api/stream'));
  expect(streams.map(({ statusCode }) => statusCode)).toEqual(Array(mostStreams).fill(200));
  const [first] = streams;
  const refused = await get(server, '/api/stream', { connection: 'keep-alive' });
  expect([refused.statusCode, refused.headers.connection]).toEqual([503, 'close']);
  first?.destroy();
  let status = 503;
  while (status === 503) status = (await get(server, '/api/stream')).statusCode as number;
  expect(status).toBe(200);
});

/** A response whose client does not read: what is written stays. */
class Unread extends EventEmitter {
  writableLength = 0;
  events = 0;
  destroyed = false;

  writeHead(): this {
    return this;
  }

  flushHeaders(): void {}

  write(text: string): boolean {
    this.writableLength += text.length;
    this.events++;
    return false;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

it('a reader that lags gets no memory samples, one that does not read is disconnected, and others get everything', () => {
  const stream = new EventStream();
  const open = () => {
    const response = new Unread();
    expect(stream.open(response as unknown as ServerResponse, [])).toBe(true);
    return response;
  };
  const stalled = open();
  const reader = open();
  const read = () => {
    reader.writableLength = 0;
  };
  while (stalled.writableLength < 65_536) stream.send({ name: 'turn', data: 'x'.repeat(10_000) });
  const turns = reader.events;
  read();
  stream.send({ name: 'memory', data: {}, replaceable: true });
  expect(stalled.events).toBe(turns);
  expect(reader.events).toBe(turns + 1);
  let sent = reader.events;
  while (!stalled.destroyed) {
    stream.send({ name: 'turn', data: 'x'.repeat(10_000) });
    read();
    expect(reader.events).toBe(++sent);
    expect(stalled.writableLength).toBeLessThan(2_000_000);
  }
  expect(stream.readers).toBe(1);
  stream.close();
});

it('a page gets turns several at a time, in order, and of too many the failed and the slowest', () => {
  const shown: (readonly TurnRecord[])[] = [];
  const live = liveTurns((turns) => shown.push(turns));
  const ring = new TurnRing(1, false);
  const add = (fields: object) => live.add(ring.add({ ...facts('t'), ...fields }));
  live.flush();
  expect(shown).toEqual([]);
  for (let n = 0; n < 50; n++) add({});
  expect(shown).toEqual([]);
  live.flush();
  expect(shown.at(-1)?.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
  add({ status: 'failed', durationMs: 0 });
  for (let n = 0; n < 1000; n++) add({ durationMs: 1, queuedMs: n });
  live.flush();
  expect(shown.at(-1)?.map(({ queuedMs }) => queuedMs)).toEqual([
    0,
    ...Array.from({ length: 49 }, (_, n) => 951 + n),
  ]);
});

it('a ring keeps the latest turns, without texts unless they are allowed', () => {
  const ring = new TurnRing(3, false);
  for (let n = 1; n <= 5; n++) ring.add(facts(`t${n}`));
  expect(ring.after(0).map(({ turn }) => turn)).toEqual(['t3', 't4', 't5']);
  expect(ring.after(0, 2).map(({ turn }) => turn)).toEqual(['t3', 't4']);
  expect(ring.after(3, 1).map(({ turn }) => turn)).toEqual(['t4']);
  expect(ring.after(4).map(({ turn }) => turn)).toEqual(['t5']);
  expect(ring.after(9)).toHaveLength(0);
  expect(JSON.stringify(ring.after(0))).not.toContain('an answer');
  const texts = new TurnRing(1, true).add(facts('t', 'y'.repeat(10_000)));
  expect(JSON.stringify(texts.components)).toContain('yyy');
  expect(JSON.stringify(texts).length).toBeLessThan(6000);
  expect(texts.shortened).toBe(true);
  expect(new TurnRing(0, false).add(facts('t')).seq).toBe(1);
});

it("of many turns at a time, the first and those that fail keep the engine's numbers", () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const engine = [{ node: 'find', type: 'retrieve', diagnostics: {} }] as never;
  const ring = new TurnRing(100, false);
  const add = (fields: object = {}) => ring.add({ ...facts('t'), engine, ...fields }).engine.length;
  const kept = Array.from({ length: 30 }, () => add());
  expect(kept.reduce((sum, each) => sum + each)).toBe(20);
  expect(kept[19]).toBe(1);
  expect(add({ status: 'failed' })).toBe(1);
  vi.setSystemTime(Date.now() + 100);
  expect(add()).toBe(1);
});

it('the state hides secrets and says what set each value', async () => {
  const sink = { endpoint: 'ftp://nowhere', project_api_key: 'the-secret-key' };
  const server = await start({}, { telemetry: { sinks: [sink] } });
  const state = await text(await get(server, '/api/state'));
  expect(state).not.toContain('the-secret-key');
  const { config } = JSON.parse(state) as { config: { path: string; source: string }[] };
  expect(config.find(({ path }) => path === 'port')).toMatchObject({ source: 'default' });
});
