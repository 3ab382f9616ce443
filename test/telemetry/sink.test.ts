import { createServer } from 'node:net';
import { PostHog } from 'posthog-node';
import { expect, it } from 'vitest';
import type { SinkConfig } from '../../src/operations/telemetry/consent.js';
import { newEventSource, turnEvent } from '../../src/operations/telemetry/events.js';
import { repeatDelayMs, Sink } from '../../src/operations/telemetry/sink.js';
import { type Batch, Ingest } from './ingest.js';

const source = newEventSource('0.0.0', false);

const facts = {
  turn: 's1.t1',
  agent: 's1.a1',
  status: 'completed',
  code: undefined,
  queuedMs: 0.1,
  durationMs: 2,
  nodes: [{ node: 'a', type: 'retrieve', duration_ms: 1 }],
  engine: () => [],
  skipped: 0,
  hits: 3,
  citations: 0,
  components: [],
  message: 'a question',
  reply: 'an answer',
} as const;

const config = (endpoint: string, fields: Partial<SinkConfig> = {}): SinkConfig => ({
  kind: 'analytics',
  enabled: true,
  endpoint,
  project_api_key: 'key',
  batch_max_records: 50,
  batch_max_ms: 3_600_000,
  queue_capacity: 5000,
  shutdown_flush_ms: 60_000,
  ...fields,
});

function open(endpoint: string, fields: Partial<SinkConfig> = {}) {
  const problems: string[] = [];
  const sink = new Sink({
    config: config(endpoint, fields),
    source,
    onProblem: (text) => problems.push(text),
  });
  const add = (count: number) => {
    for (let n = 0; n < count; n++) sink.add(turnEvent(source, { ...facts, turn: `t${n}`, hits: n }));
  };
  return { sink, add, problems };
}

const hits = (ingest: Ingest) => ingest.events.map(({ properties }) => (properties as { hits: number }).hits);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

it('sends what posthog-node sends for the same event', async () => {
  const ours = await Ingest.listen();
  const theirs = await Ingest.listen();
  const event = turnEvent(source, facts);
  const { sink } = open(ours.url);
  sink.add(event);
  await sink.close();
  const oracle = new PostHog('key', { host: theirs.url });
  const { $lib, $lib_version, $is_server, $geoip_disable, ...properties } = event.properties;
  oracle.capture({
    distinctId: event.distinct_id,
    event: event.event,
    properties,
    timestamp: new Date(event.timestamp),
    uuid: event.uuid,
  });
  await oracle.shutdown();
  const [mine] = ours.batches;
  const [expected] = theirs.batches;
  expect(mine?.path).toBe(expected?.path);
  for (const name of ['content-type', 'content-encoding'])
    expect(mine?.headers[name]).toBe(expected?.headers[name]);
  const library = { $lib, $lib_version, $is_server, $geoip_disable };
  const [theirEvent] = (expected as Batch).body.batch as [{ properties: object }];
  expect(Object.keys(theirEvent.properties)).toEqual(
    expect.arrayContaining([...Object.keys(properties), ...Object.keys(library)]),
  );
  expect(mine?.body.batch).toEqual([{ ...theirEvent, properties: { ...theirEvent.properties, ...library } }]);
  expect(Object.keys(mine?.body ?? {}).sort()).toEqual(Object.keys(expected?.body ?? {}).sort());
  expect(mine?.body.sent_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

it('a batch goes out when it is full, and a part of one after batch_max_ms', async () => {
  const ingest = await Ingest.listen();
  const { sink, add } = open(ingest.url, { batch_max_ms: 20 });
  add(120);
  await ingest.until(() => ingest.events.length === 120);
  expect(ingest.batches.map(({ body }) => body.batch.length)).toEqual([50, 50, 20]);
  expect(hits(ingest)).toEqual(upTo(120));
  await sink.close();
  expect(sink.dropped).toEqual({ queue_full: 0, refused: 0, unsent: 0 });
});

it('a full queue drops its oldest events, counts them, and reports the count', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ingest = await Ingest.listen((response) => void held.then(() => response.end()));
  const { sink, add } = open(ingest.url, { queue_capacity: 100, batch_max_records: 10 });
  add(10);
  await ingest.until(() => ingest.batches.length === 1);
  add(300);
  // The ten of the request under way may arrive: they are neither waiting nor dropped.
  expect(sink.dropped.queue_full).toBe(200);
  release();
  await sink.close();
  const [report] = ingest.events.filter(({ event }) => event === 'events dropped');
  expect(report?.properties).toMatchObject({ queue_full: 200 });
  const sent = hits(ingest).filter((n) => n !== undefined);
  expect(sent).toEqual([...upTo(10), ...upTo(300).slice(200)]);
});

it.each([
  { capacity: 60, batch: 50 },
  { capacity: 10, batch: 50 },
])('an outage keeps the newest events, with a queue of $capacity', async ({ capacity, batch }) => {
  let isDown = true;
  const ingest = await Ingest.listen((response) => {
    response.statusCode = isDown ? 503 : 200;
    response.end();
  });
  const { sink, add } = open(ingest.url, { queue_capacity: capacity, batch_max_records: batch });
  add(batch);
  await ingest.until(() => ingest.batches.length === 1);
  for (let n = batch; n < 100; n++) sink.add(turnEvent(source, { ...facts, turn: `t${n}`, hits: n }));
  await ingest.until(() => ingest.batches.length === 2);
  isDown = false;
  const refused = ingest.batches.length;
  await sink.close();
  const arrived = ingest.batches
    .slice(refused)
    .flatMap(({ body }) => body.batch)
    .map(({ properties }) => (properties as { hits?: number }).hits)
    .filter((n) => n !== undefined);
  expect(arrived).toEqual(upTo(100).slice(-capacity));
  expect(sink.dropped.queue_full).toBe(100 - capacity);
});

it('413 halves the batch until it fits, and a single event that does not fit is dropped', async () => {
  const ingest = await Ingest.listen((response, { body }) => {
    const tooLarge = body.batch.some(({ properties }) => (properties as { hits: number }).hits === 7);
    response.statusCode = tooLarge || body.batch.length > 6 ? 413 : 200;
    response.end();
  });
  const { sink, add, problems } = open(ingest.url);
  add(20);
  await sink.close();
  expect(sink.dropped).toEqual({ queue_full: 0, refused: 1, unsent: 0 });
  const last = ingest.batches.filter(({ body }) => body.batch.length <= 6);
  const sent = new Set(
    last.flatMap(({ body }) => body.batch).map(({ properties }) => (properties as { hits?: number }).hits),
  );
  for (const n of upTo(20)) expect(sent.has(n)).toBe(true);
  expect(problems.length).toBeGreaterThan(0);
});

it('after a 413, batches grow again', async () => {
  let answers = 0;
  const ingest = await Ingest.listen((response) => {
    response.statusCode = answers++ < 2 ? 413 : 200;
    response.end();
  });
  const { sink, add } = open(ingest.url, { batch_max_records: 8 });
  add(30);
  await sink.close();
  expect(ingest.batches.map(({ body }) => body.batch.length)).toEqual([8, 4, 2, 3, 3, 5, 6, 7, 4]);
  expect(sink.dropped).toEqual({ queue_full: 0, refused: 0, unsent: 0 });
});

it('429 and 5xx are repeated after the time that the server asks for; nothing is lost or sent twice', async () => {
  const answers = [429, 500, 503, 200];
  const ingest = await Ingest.listen((response, _, index) => {
    response.statusCode = answers[index] ?? 200;
    if (response.statusCode !== 200) response.setHeader('retry-after', '0');
    response.end();
  });
  const { sink, add } = open(ingest.url);
  add(50);
  await ingest.until(() => ingest.batches.length === 4);
  await sink.close();
  expect(ingest.batches).toHaveLength(4);
  expect(new Set(ingest.batches.map(({ body }) => JSON.stringify(body.batch))).size).toBe(1);
  expect(sink.dropped).toEqual({ queue_full: 0, refused: 0, unsent: 0 });
});

it('a server that always asks for no wait is not asked in a loop', () => {
  const waits = Array.from({ length: 14 }, (_, repeats) => repeatDelayMs(repeats, 0));
  expect(waits.slice(0, 3)).toEqual([10, 20, 40]);
  expect(waits.at(-1)).toBe(60_000);
  // Its wish counts where it is longer, and without one the wait doubles, too.
  expect(repeatDelayMs(0, 5000)).toBe(5000);
  expect(repeatDelayMs(2000, 0)).toBe(60_000);
  for (const [repeats, most] of [
    [0, 1000],
    [3, 8000],
    [2000, 60_000],
  ] as const) {
    expect(repeatDelayMs(repeats, undefined)).toBeLessThanOrEqual(most);
    expect(repeatDelayMs(repeats, undefined)).toBeGreaterThanOrEqual(most / 2);
  }
});

it('the report of lost events is one of the events of a batch', async () => {
  const ingest = await Ingest.listen((response, { body }) => {
    response.statusCode = body.batch.some(({ properties }) => (properties as { hits: number }).hits === 0)
      ? 400
      : 200;
    response.end();
  });
  const { sink, add } = open(ingest.url, { batch_max_records: 10 });
  add(25);
  await sink.close();
  expect(ingest.batches.map(({ body }) => body.batch.length)).toEqual([10, 10, 1, 5]);
  expect(ingest.events.filter(({ event }) => event === 'events dropped')).toHaveLength(1);
  expect(sink.dropped).toEqual({ queue_full: 0, refused: 10, unsent: 0 });
});

it('shutdown tries once more at once, whatever the server asked for before', async () => {
  const ingest = await Ingest.listen((response, _, index) => {
    response.writeHead(index === 0 ? 503 : 200, { 'retry-after': '3600' }).end();
  });
  const { sink, add, problems } = open(ingest.url);
  add(60);
  while (problems.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await sink.close();
  expect(new Set(hits(ingest))).toEqual(new Set(upTo(60)));
  expect(ingest.batches.map(({ body }) => body.batch.length)).toEqual([50, 50, 10]);
  expect(sink.dropped).toEqual({ queue_full: 0, refused: 0, unsent: 0 });
});

it.each([301, 400, 401, 404])('%i drops the batch and counts it', async (status) => {
  const other = await Ingest.listen();
  const ingest = await Ingest.listen((response) => {
    response.writeHead(status, { location: `${other.url}/elsewhere` }).end();
  });
  const { sink, add, problems } = open(ingest.url);
  add(3);
  await sink.close();
  expect(sink.dropped.refused).toBe(3);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(String(status));
  expect(problems[0]).not.toContain('key');
  expect(other.connections).toBe(0);
});

it('a reply that breaks off after its status counts as accepted', async () => {
  const ingest = await Ingest.listen((response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{');
    response.socket?.end();
  });
  const { sink, add } = open(ingest.url);
  add(1);
  await sink.close();
  expect(ingest.events).toHaveLength(1);
  expect(sink.dropped).toEqual({ queue_full: 0, refused: 0, unsent: 0 });
});

it('shutdown waits for a dead or silent server only as long as it may', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  const silent = await Ingest.listen(() => {});
  for (const url of [`http://127.0.0.1:${port}`, silent.url]) {
    const { sink, add } = open(url, { shutdown_flush_ms: 50 });
    add(60);
    await sink.close();
    expect(sink.dropped.unsent).toBe(60);
  }
});
