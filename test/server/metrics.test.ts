import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { expect, it, onTestFinished } from 'vitest';
import type { Graph } from '../../src/client/index.js';
import { refusalOf } from '../../src/operations/http/guard.js';
import { maxConnections } from '../../src/operations/http/local-server.js';
import { familyText, type MetricFamily } from '../../src/operations/metrics/metric-family.js';
import { EventLoopDelays } from '../../src/operations/metrics/process-metrics.js';
import { parseExposition } from '../helpers/exposition.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { retrieveGraph, TestServer } from './test-server.js';

interface Reply {
  status: number | undefined;
  headers: Record<string, unknown>;
  text: string;
}

function get(port: number, path: string, headers: Record<string, string> = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    sent.on('error', reject).end();
  });
}

const start = () => TestServer.start({ config: { metrics: { enabled: true, port: 0 } } });
const portOf = ({ server }: TestServer) => server.metricsPort as number;

function sampleOf(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  expect(line, `${series} in\n${text}`).toBeDefined();
  return Number(line?.split(' ').at(-1));
}

it('metrics count requests, turns, searches, memory and storages', async () => {
  const server = await start();
  const session = await server.session();
  await session.createEmbeddedStringStorage({
    name: 'docs',
    strings: ['bees make honey', 'ice melts'],
    embeddingModel: 'tiny',
  });
  const agent = await session.createAgent({ graph: retrieveGraph() });
  await agent.turn('honey');
  await agent.turn('ice');
  await expect(
    session.createAgent({ graph: retrieveGraph({ embedded_string_storage: 'x/y' }) }),
  ).rejects.toThrow();
  const raw = await server.raw();
  for (const id of [1, 2]) await raw.request({ type: `Unknown${id}`, id });
  await raw.request({ type: 'CreateSessionRequest', id: 3, unknown_field: 1 });
  const { status, headers, text } = await get(portOf(server), '/metrics');
  expect(status).toBe(200);
  expect(sampleOf(text, 'lorekeep_requests_total{type="invalid",code="1002"}')).toBe(2);
  expect(sampleOf(text, 'lorekeep_requests_total{type="invalid",code="1004"}')).toBe(1);
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(sampleOf(text, 'lorekeep_connections')).toBe(2);
  expect(sampleOf(text, 'lorekeep_sessions')).toBe(1);
  expect(sampleOf(text, 'lorekeep_turns_total{status="completed",code="0"}')).toBe(2);
  expect(sampleOf(text, 'lorekeep_turn_seconds_count')).toBe(2);
  expect(sampleOf(text, 'lorekeep_node_seconds_count{type="retrieve"}')).toBe(2);
  expect(sampleOf(text, 'lorekeep_requests_total{type="TurnRequest",code="0"}')).toBe(2);
  expect(sampleOf(text, 'lorekeep_requests_total{type="CreateAgentRequest",code="3010"}')).toBe(1);
  expect(sampleOf(text, 'lorekeep_client_memory_bytes{kind="agents"}')).toBeGreaterThan(0);
  expect(sampleOf(text, 'lorekeep_waiting{queue="search"}')).toBe(0);
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
  expect(text).toContain('process_resident_memory_bytes');
  // Neither texts nor names of a client.
  for (const own of ['honey', 'docs']) expect(text).not.toContain(own);
});

it("the metrics are in the text format, and Node.js's metrics have their usual names", async () => {
  const server = await start();
  const session = await server.session();
  await session.listModels();
  const { text } = await get(portOf(server), '/metrics');
  const families = parseExposition(text);
  const names = [...families.keys()];
  const usual = ['cpu_seconds_total', 'start_time_seconds', 'resident_memory_bytes', 'open_fds', 'max_fds'];
  for (const name of usual.map((one) => `process_${one}`))
    expect(sampleOf(text, name), name).toBeGreaterThan(0);
  for (const name of ['heap_size_used_bytes', 'external_memory_bytes'])
    expect(sampleOf(text, `nodejs_${name}`), name).toBeGreaterThan(0);
  expect(sampleOf(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
  expect(names).toContain('nodejs_gc_duration_seconds');
  expect(text).toContain(`nodejs_version_info{version="${process.version}",`);
});

it('counters and histograms never decrease', async () => {
  const server = await start();
  const session = await server.session();
  const strings = ['bees make honey', 'ice melts'];
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const agent = await session.createAgent({ graph: retrieveGraph() });
  const scrape = async () => {
    const { text } = await get(portOf(server), '/metrics');
    const growing = [...parseExposition(text).values()].filter(({ type }) => type !== 'gauge');
    return new Map(
      growing.flatMap(({ samples }) => samples).map(({ series, value }) => [series, value] as const),
    );
  };
  let before = await scrape();
  for (let i = 0; i < 3; i++) {
    await agent.turn('honey');
    await session.listModels();
    const after = await scrape();
    for (const [series, value] of before) expect(after.get(series), series).toBeGreaterThanOrEqual(value);
    before = after;
  }
  expect(before.get('lorekeep_requests_total{type="ListModelsRequest",code="0"}')).toBe(3);
  expect(before.get('lorekeep_generation_tokens_total{class="background"}')).toBeGreaterThanOrEqual(0);
});

it('the dashboard of Grafana asks for metrics that exist', async () => {
  const file = new URL('../../examples/grafana/lorekeep.json', import.meta.url);
  const { panels } = JSON.parse(await readFile(file, 'utf8')) as {
    panels: { targets: { expr: string }[] }[];
  };
  const server = await start();
  const families = parseExposition((await get(portOf(server), '/metrics')).text);
  const asked = panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => expr.match(/\b(?:lorekeep|nodejs|process)_\w+/g) ?? []),
  );
  expect(asked.length).toBeGreaterThan(20);
  for (const name of asked) {
    const family = families.get(name) ?? families.get(name.replace(/_bucket$/, ''));
    expect(family, name).toBeDefined();
    expect(family?.type === 'histogram', name).toBe(name.endsWith('_bucket'));
  }
  // rate() is of counters alone.
  const rated = panels
    .flatMap(({ targets }) => targets.map(({ expr }) => expr))
    .flatMap((expr) => [...expr.matchAll(/\brate\((\w+?)(?:_bucket)?[[{]/g)].map(([, name]) => name));
  for (const name of rated) expect(families.get(name ?? '')?.type, name).toMatch(/counter|histogram/);
});

it('labels are escaped, and values that are no numbers have the words of the text format', async () => {
  const text = await familyText({
    type: 'gauge',
    name: 'x',
    help: 'A test.',
    read(add) {
      add(1.5, { a: 'say "hi"\n\\', b: 2 });
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) add(value);
    },
  });
  const lines = ['# HELP x A test.', '# TYPE x gauge', String.raw`x{a="say \"hi\"\n\\",b="2"} 1.5`];
  expect(text).toBe(`${[...lines, 'x NaN', 'x +Inf', 'x -Inf'].join('\n')}\n`);
});

it('metrics show the KV cache of each loaded language model, and the clients that throttle', async () => {
  const numbers = {
    readAtMs: 0,
    cells: 4096,
    cellsUsed: 120,
    cellsReserved: 8,
    running: 0,
    queued: 0,
    keptPrefixes: 1,
    promptTokens: 500,
    cachedTokens: 380,
    parked: 0,
  };
  const model = Object.assign(new FakeTextModel(), { numbers: async () => numbers });
  const config = { metrics: { enabled: true, port: 0 } };
  const server = await TestServer.start({ config, loadLanguageModel: async () => model });
  const client = await server.connect();
  const session = await client.createSession();
  const cells = 'lorekeep_model_cells_used{model="talker"}';
  expect((await get(portOf(server), '/metrics')).text).not.toContain(cells);
  const graph: Graph = { nodes: [{ id: 'a', type: 'generate', params: { model: 'talker' } }] };
  await (await session.createAgent({ graph })).turn('hello');
  await client.reportThrottle(0.5);
  const { text } = await get(portOf(server), '/metrics');
  expect(sampleOf(text, cells)).toBe(120);
  expect(sampleOf(text, 'lorekeep_model_cells{model="talker"}')).toBe(4096);
  expect(sampleOf(text, 'lorekeep_model_cached_prompt_tokens_total{model="talker"}')).toBe(380);
  expect(sampleOf(text, 'lorekeep_throttling_clients')).toBe(1);
});

it('health and ready answer; a stopping server is not ready', async () => {
  const server = await start();
  expect(await get(portOf(server), '/health')).toMatchObject({ status: 200, text: 'ok\n' });
  expect(await get(portOf(server), '/ready')).toMatchObject({ status: 200, text: 'ready\n' });
  expect((await get(portOf(server), '/nothing')).status).toBe(404);
});

it('health, metrics and the monitor answer while a model computes and says nothing about itself', async () => {
  let asked = 0;
  let release = () => {};
  const computing = new Promise<void>((resolve) => {
    release = resolve;
  });
  const numbers = async () => {
    asked++;
    await computing;
    throw new Error('too late');
  };
  const model = Object.assign(new FakeTextModel({ pause: () => computing }), { numbers });
  const on = { enabled: true, port: 0 };
  const server = await TestServer.start({
    config: { metrics: on, monitor: on },
    loadLanguageModel: async () => model,
  });
  const session = await server.session();
  const graph: Graph = { nodes: [{ id: 'a', type: 'generate', params: { model: 'talker' } }] };
  const turn = (await session.createAgent({ graph })).turn('hello');
  await expect.poll(() => model.requests.length).toBe(1);
  const monitor = server.server.monitorPort as number;
  const asks = ['/api/state', '/metrics', '/api/state', '/metrics'].map((path) => get(monitor, path));
  await expect.poll(() => asked).toBe(1);
  for (const path of ['/health', '/ready'])
    for (const port of [monitor, portOf(server)])
      expect(await get(port, path)).toMatchObject({ status: 200 });
  // Neither waits for the model: they have what was known of it.
  const [state, ...others] = await Promise.all(asks);
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(JSON.parse(state?.text ?? '').languageModels).toMatchObject([{ name: 'talker' }]);
  expect(asked).toBe(1);
  release();
  await turn;
});

it('health answers however many connections say nothing', async () => {
  const server = await start();
  const silent: Socket[] = [];
  let closed = 0;
  for (let n = 0; n < 3 * maxConnections; n++) {
    const socket = connect(portOf(server), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('close', () => closed++);
    socket.on('error', () => {});
    // Half a request is none.
    if (n % 2 === 0) socket.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    await once(socket, 'connect');
    silent.push(socket);
  }
  expect(await get(portOf(server), '/health')).toMatchObject({ status: 200 });
  await expect.poll(() => closed).toBeGreaterThan(2 * maxConnections);
  expect(silent.at(-1)?.closed).toBe(false);
});

it('pipelined requests get no replies that wait in memory', async () => {
  const server = await start();
  const socket = connect(portOf(server), '127.0.0.1').setEncoding('utf8');
  socket.write('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(1000));
  const text = (await socket.toArray().catch(() => [])).join('');
  expect(text.split('HTTP/1.1 200').length - 1).toBeLessThan(2);
  expect(await get(portOf(server), '/health')).toMatchObject({ status: 200 });
});

it('nothing listens by default', async () => {
  const server = await TestServer.start();
  expect(server.server.metricsPort).toBeUndefined();
});

it('with allow_remote, requests under other names are refused all the same', async () => {
  const server = await TestServer.start({
    config: { metrics: { enabled: true, port: 0, allow_remote: true } },
  });
  expect((await get(portOf(server), '/health')).status).toBe(200);
  expect((await get(portOf(server), '/health', { host: 'evil.example' })).status).toBe(403);
});

it('a busy port is an error at the start that names the field', async () => {
  const server = await start();
  const config = { metrics: { enabled: true, port: portOf(server) } };
  await expect(TestServer.start({ config })).rejects.toThrow(/metrics\.port: .*another program listens/);
});

it('several Host headers are refused, and an address with a host names no page', async () => {
  const server = await start();
  const own = 'Host: 127.0.0.1';
  const statusOf = async (target: string, ...headers: string[]) => {
    const socket = connect(portOf(server), '127.0.0.1').setEncoding('utf8');
    socket.write([`GET ${target} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'));
    return Number((await socket.toArray()).join('').slice(9, 12));
  };
  expect(await statusOf('/health', own)).toBe(200);
  expect(await statusOf('/health', own, 'Host: evil.example')).toBe(403);
  expect(await statusOf('/health', 'Host: evil.example', own)).toBe(403);
  for (const target of ['http://evil.example/health', '//evil.example/health', '*'])
    expect(await statusOf(target, own), target).toBe(400);
});

it('names that DNS may lie about and requests of other web pages are refused', async () => {
  const server = await start();
  const port = portOf(server);
  const refused: Record<string, string>[] = [
    { host: `evil.example:${port}` },
    { host: 'localhost.evil.example' },
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of refused) expect((await get(port, '/metrics', headers)).status).toBe(403);
  const taken: Record<string, string>[] = [
    { host: `localhost:${port}` },
    { host: `[::1]:${port}` },
    { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ];
  for (const headers of taken) expect((await get(port, '/health', headers)).status).toBe(200);
  expect(refusalOf({ headers: {} } as never)).toMatch(/Host/);
});

it('the delays of one scrape are of the same time, in whatever order they are read', async () => {
  const histogram = createHistogram();
  const delays = new EventLoopDelays(histogram);
  for (const seconds of [1, 2, 3]) histogram.record(seconds * 1e9);
  const taken = delays.take();
  expect(await sampleIn(taken, 'max')).toBeCloseTo(3, 1);
  expect(await sampleIn(taken, 'min')).toBeCloseTo(1, 1);
  expect(await sampleIn(delays.take(), 'max')).toBe(0);
});

async function sampleIn(gauges: readonly MetricFamily[], name: string): Promise<number | undefined> {
  let found: number | undefined;
  await gauges
    .find((gauge) => gauge.name === `nodejs_eventloop_lag_${name}_seconds`)
    ?.read((value) => {
      found = value;
    });
  return found;
}
