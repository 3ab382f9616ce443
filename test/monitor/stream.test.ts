import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import { isLoopback } from '../../src/operations/http/guard.js';
import { EventStream, maxStreams } from '../../src/operations/monitor/event-stream.js';
import { LiveTurns, maxShown } from '../../src/operations/monitor/live-turns.js';
import { LogTail } from '../../src/operations/monitor/log-tail.js';
import type { TurnRecord } from '../../src/operations/monitor/turn-record.js';
import { TurnRing } from '../../src/operations/monitor/turn-ring.js';
import { random, testSeed } from '../helpers/random.js';
import { TestServer } from '../server/test-server.js';

const facts = (turn: string, text = 'an answer') =>
  ({
    turn,
    agent: 's1.a1',
    status: 'completed',
    code: undefined,
    queuedMs: 0,
    durationMs: 1,
    nodes: [],
    engine: () => [],
    skipped: 0,
    hits: 0,
    citations: 0,
    components: [{ _type: 'character_reply', text }],
    message: 'a question',
    reply: text,
  }) as const;

/** A log without lines. */
const noLines = { newest: 0, after: () => ({ name: 'log', json: '[]' }) };

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
  for (const [body, reason] of [
    ['{"storage":"x","storage":"y","text":"z"}', 'the body:1:16: storage: occurs twice'],
    ['['.repeat(200_000), 'the body: nested deeper than 64 levels'],
  ] as const) {
    const response = await post(json, body);
    expect([response.statusCode, JSON.parse(await text(response))]).toEqual([400, { error: reason }]);
  }
  const tooLong = await post(json, 'x'.repeat(300_000));
  expect([tooLong.statusCode, await text(tooLong)]).toEqual([413, expect.stringMatching(/262144 bytes/)]);
});

it('a HEAD request of the stream ends and takes no place of a page', async () => {
  const server = await start();
  for (let n = 0; n < 2 * maxStreams; n++) {
    const response = await get(server, '/api/stream', {}, { method: 'HEAD' });
    expect([response.statusCode, await text(response)]).toEqual([200, '']);
  }
  expect((await get(server, '/api/stream')).statusCode).toBe(200);
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

it('a page gets every line of the log, also those written while it catches up and while it lags', () => {
  const tail = new LogTail(false);
  const stream = new EventStream({
    get newest() {
      return tail.newest;
    },
    after: (seq) => ({ name: 'log', json: JSON.stringify(tail.after(seq)) }),
  });
  let written = 0;
  const write = (count: number) => {
    for (let n = 0; n < count; n++) tail.write(`line ${++written}\n`, 30);
    stream.sendJournal();
  };
  const reader = new Unread();
  const got = () => reader.texts.flatMap((text) => text.match(/line \d+/g) ?? []);
  const all = () => Array.from({ length: written }, (_, n) => `line ${n + 1}`);
  const read = () => {
    reader.writableLength = 0;
    reader.emit('drain');
  };
  write(3);
  stream.open(
    reader as unknown as ServerResponse,
    [1, 2, 3].map(() => ({ name: 'turns', json: '[]' })),
  );
  write(2);
  for (let n = 0; n < 4; n++) read();
  expect(got()).toEqual(all());
  write(1);
  expect(got()).toEqual(all());
  stream.send({ name: 'turns', json: JSON.stringify('x'.repeat(100_000)) });
  write(2);
  write(2);
  expect(got()).toHaveLength(6);
  read();
  expect(got()).toEqual(all());
  // Two readers at different places get what each of them lacks.
  const late = new Unread();
  stream.open(late as unknown as ServerResponse, []);
  write(1);
  expect(got()).toEqual(all());
  expect(late.texts.flatMap((text) => text.match(/line \d+/g) ?? [])).toEqual(all());
  stream.close();
});

it('lines are numbered, also lines that are no longer kept', () => {
  const tail = new LogTail(false);
  expect(tail.after(0)).toEqual({ seq: 1, lines: [] });
  tail.write('a line of level trace\n', 10);
  for (let n = 1; n <= 600; n++) tail.write(`line ${n}\n`, 30);
  expect(tail.newest).toBe(600);
  const kept = tail.after(3);
  expect([kept.seq, kept.lines.length, kept.lines[0], kept.lines.at(-1)]).toEqual([
    101,
    500,
    'line 101',
    'line 600',
  ]);
  expect(tail.after(598)).toEqual({ seq: 599, lines: ['line 599', 'line 600'] });
  expect(tail.after(600).lines).toEqual([]);
});

it('a warning is kept until 500 later warnings or errors, whatever lines come between', () => {
  const tail = new LogTail(false);
  tail.write('the first warning\n', 40);
  tail.write('an error\n', 50);
  for (let n = 1; n <= 5000; n++) tail.write(`line ${n}\n`, 20);
  const kept = tail.after(0);
  const first = { seq: 1, line: 'the first warning' };
  expect(kept.earlier).toEqual([first, { seq: 2, line: 'an error' }]);
  expect([kept.seq, kept.lines.length]).toEqual([4503, 500]);
  expect(tail.after(1).earlier).toEqual([{ seq: 2, line: 'an error' }]);
  expect(tail.after(2).earlier).toBeUndefined();
  for (let n = 1; n <= 498; n++) tail.write(`warning ${n}\n`, 40);
  expect(tail.after(0).earlier?.[0]).toEqual(first);
  tail.write('one more\n', 40);
  expect(tail.after(0).earlier?.map(({ line }) => line)).toEqual(['an error']);
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
  const stream = new EventStream(noLines);
  const reader = new Unread();
  let asked = 0;
  function* events() {
    for (; asked < 100; asked++) yield { name: 'turns', json: JSON.stringify('x'.repeat(10_000)) };
  }
  expect(stream.open(reader as unknown as ServerResponse, events())).toBe(true);
  expect(reader.events).toBe(1);
  stream.send({ name: 'turns', json: JSON.stringify('later') });
  expect(reader.events).toBe(1);
  while (asked < 100) {
    reader.writableLength = 0;
    reader.emit('drain');
  }
  expect(reader.events).toBe(100);
  stream.send({ name: 'turns', json: JSON.stringify('later') });
  expect(reader.events).toBe(101);
  stream.close();
  expect(reader.destroyed).toBe(true);
});

it('a page that reads nothing of the kept turns gives up its place, a slow one keeps it', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stream = new EventStream(noLines);
  const kept = Array.from({ length: 10 }, () => ({ name: 'turns', json: JSON.stringify('x') }));
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

it('a page that leaves bytes unread for a minute gives up its place, and a stream ends after an hour', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stream = new EventStream(noLines);
  const [unread, read] = [new Unread(), new Unread()];
  for (const reader of [unread, read]) stream.open(reader as unknown as ServerResponse, []);
  const ended = vi.fn();
  Object.assign(read, { end: ended });
  for (let beat = 0; beat < 5; beat++) {
    unread.writableLength = 1;
    read.writableLength = 0;
    vi.advanceTimersToNextTimer();
  }
  expect([unread.destroyed, read.destroyed]).toEqual([true, false]);
  for (let beat = 5; beat < 240; beat++) {
    read.writableLength = 0;
    vi.advanceTimersToNextTimer();
  }
  expect(ended).not.toHaveBeenCalled();
  vi.advanceTimersToNextTimer();
  expect(ended).toHaveBeenCalled();
  stream.close();
});

it('streams beyond the limit are refused, and places of closed ones are free again', async () => {
  const server = await start();
  const streams: IncomingMessage[] = [];
  for (let n = 0; n < maxStreams; n++) streams.push(await get(server, '/api/stream'));
  expect(streams.map(({ statusCode }) => statusCode)).toEqual(Array(maxStreams).fill(200));
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
  readonly texts: string[] = [];

  writeHead(): this {
    return this;
  }

  flushHeaders(): void {}

  write(text: string): boolean {
    this.writableLength += text.length;
    this.events++;
    this.texts.push(text);
    return false;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

it('a reader that lags gets no memory samples, a reader that does not read is disconnected, and others get everything', () => {
  const stream = new EventStream(noLines);
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
  while (stalled.writableLength < 65_536)
    stream.send({ name: 'turn', json: JSON.stringify('x'.repeat(10_000)) });
  const turns = reader.events;
  read();
  stream.send({ name: 'memory', json: '{}', replaceable: true });
  expect(stalled.events).toBe(turns);
  expect(reader.events).toBe(turns + 1);
  let sent = reader.events;
  while (!stalled.destroyed) {
    stream.send({ name: 'turn', json: JSON.stringify('x'.repeat(10_000)) });
    read();
    expect(reader.events).toBe(++sent);
    expect(stalled.writableLength).toBeLessThan(2_000_000);
  }
  expect(stream.readers).toBe(1);
  stream.close();
});

it('a page gets turns several at a time, in order, and of too many the failed and the slowest', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const shown: TurnRecord[][] = [];
  const ring = new TurnRing(0, false);
  const live = new LiveTurns((turns) => shown.push(turns.map(({ json }) => JSON.parse(json))));
  const add = (fields: object) => live.added(ring.add({ ...facts('t'), ...fields }));
  live.flush();
  for (let n = 0; n < maxShown; n++) add({});
  expect(shown).toEqual([]);
  vi.advanceTimersToNextTimer();
  expect(shown.at(-1)?.map(({ seq }) => seq)).toEqual(Array.from({ length: maxShown }, (_, n) => n + 1));
  add({ status: 'failed', durationMs: 0 });
  for (let n = 0; n < 1000; n++) add({ durationMs: 1, queuedMs: n });
  live.flush();
  expect(shown.at(-1)?.map(({ queuedMs }) => queuedMs)).toEqual([
    0,
    ...Array.from({ length: maxShown - 1 }, (_, n) => 1001 - maxShown + n),
  ]);
  live.flush();
  expect(shown).toHaveLength(2);
});

it(`a page gets the turns that sorting chooses, seed ${testSeed}`, () => {
  const draw = random(testSeed);
  for (let trial = 0; trial < 100; trial++) {
    const shown: number[][] = [];
    const ring = new TurnRing(1, false);
    const live = new LiveTurns((turns) => shown.push(turns.map(({ seq }) => seq)));
    const added = Array.from({ length: 1 + Math.floor(draw() * 5 * maxShown) }, () => {
      const status = draw() < 0.1 ? 'failed' : 'completed';
      const turn = ring.add({ ...facts('t'), status, durationMs: Math.floor(draw() * 8) });
      live.added(turn);
      return turn;
    });
    live.flush();
    const chosen = added.toSorted((a, b) => (a.rank === b.rank ? b.seq - a.seq : b.rank - a.rank));
    expect(shown).toEqual([
      chosen
        .slice(0, maxShown)
        .map(({ seq }) => seq)
        .sort((a, b) => a - b),
    ]);
  }
});

it('a page gets a turn that failed before the ring has forgotten it', () => {
  const shown: TurnRecord[][] = [];
  const ring = new TurnRing(1, false);
  const live = new LiveTurns((turns) => shown.push(turns.map(({ json }) => JSON.parse(json))));
  live.added(ring.add({ ...facts('failed'), status: 'failed' }));
  for (let n = 1; n < 5000; n++) live.added(ring.add(facts('t')));
  live.flush();
  expect(shown[0]).toHaveLength(maxShown);
  expect(shown[0]?.[0]?.turn).toBe('failed');
});

it('the state hides secrets and says what set each value', async () => {
  const sink = {
    endpoint: 'ftp://someone:the-secret-word@nowhere/path',
    project_api_key: 'the-secret-key',
  };
  const server = await start({}, { telemetry: { sinks: [sink] } });
  const state = await text(await get(server, '/api/state'));
  expect(state).not.toMatch(/the-secret|someone/);
  expect(state).toContain('ftp://(hidden)@nowhere/path');
  const { config } = JSON.parse(state) as { config: { path: string; source: string }[] };
  expect(config.find(({ path }) => path === 'port')).toMatchObject({ source: 'default' });
});
