import { fork } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { random, testSeed } from '../../test/helpers/random.js';

const bench = join(import.meta.dirname, '..');

interface Result {
  failed: { name: string; reason: string }[];
  tables: { id: string; rows: { name: string; count?: number; value?: string }[] }[];
  curves: { chart: string; series: { name: string; points: { x: number; y: number }[] }[] }[];
}

/** Runs a trial as the suite does. */
function trial(program: string, ...args: string[]): Promise<{ result: Result; status: number | null }> {
  return new Promise((resolve, reject) => {
    const child = fork(join(bench, program), args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    let printed = '';
    let result: Result | undefined;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        printed += chunk;
      });
    child.on('message', (message) => {
      result = (message as { result: Result }).result;
    });
    child.on('error', reject);
    child.on('close', (status) => {
      if (result === undefined) reject(new Error(`no result, status ${status}: ${printed}`));
      else resolve({ result, status });
    });
  });
}

test('a short soak: every class answers, handles are given back, and the curves are drawn', async () => {
  const args = [
    '--minutes',
    '0.1',
    '--sessions',
    '16',
    '--active',
    '8',
    '--records',
    '200',
    '--model',
    'tiny',
  ];
  const { result, status } = await trial('server/soak.mjs', ...args);
  // A busy machine answers too few requests in this time to judge the memory.
  const failed = result.failed.filter(({ reason }) => !reason.includes('too few'));
  expect({ failed, status }).toEqual({ failed: [], status: Math.min(1, result.failed.length) });
  const [latency, total] = result.tables;
  expect(latency?.rows.map(({ name }) => name)).toContain('retrieval');
  expect(latency?.rows.every(({ count = 0 }) => count > 0)).toBe(true);
  const handles = total?.rows.find(({ name }) => name.startsWith('handles'))?.value ?? '';
  const [before, after] = handles.split(' -> ').map(Number);
  expect(after).toBeLessThanOrEqual(before as number);
  const { drawLineChart } = await import(join(bench, 'charts/line-chart.mjs'));
  const { chartsOf } = await import(join(bench, 'charts/curves.mjs'));
  const charts: { name: string }[] = chartsOf([result]);
  expect(charts.map(({ name }) => name)).toEqual(['soak-latency', 'soak-memory']);
  for (const chart of charts) expect(drawLineChart(chart)).toMatch(/^<svg .*<path /s);
});

test('a chart of values that are near one another says how high they are', async () => {
  const { drawLineChart } = await import(join(bench, 'charts/line-chart.mjs'));
  const { chartsOf } = await import(join(bench, 'charts/curves.mjs'));
  for (const [least, most, ticks] of [
    [66, 78, ['70', '80']],
    [310, 322, ['300', '320']],
  ] as const) {
    const points = [0, 1].map((x) => ({ x, y: x === 0 ? least : most }));
    const curve = { chart: 'soak-memory', panel: 'the server', series: [{ name: 'lorekeep', points }] };
    const [chart] = chartsOf([{ curves: [curve] }]);
    for (const tick of ticks) expect(drawLineChart(chart)).toContain(`>${tick}</text>`);
  }
});

interface Growth {
  slope: number;
  least: number;
  failure: string | undefined;
}

/**
 * Judges a server that holds `kib(requests)` and some noise. The machine answers few requests in the first
 * half of the samples.
 */
async function judged(kib: (requests: number) => number, samples = 200): Promise<Growth> {
  const { judgeGrowth } = await import(join(bench, 'server/soak/memory-growth.mjs'));
  console.log(`seed ${testSeed}`);
  const noise = random(testSeed);
  let requests = 0;
  const held = Array.from({ length: samples }, (_, index) => {
    requests += index < samples / 2 ? 10 : 400;
    return { requests, memory: 100_000 + kib(requests) + 4000 * noise() };
  });
  return judgeGrowth(held);
}

test('memory that grows with the requests fails a soak, and memory that only swings does not', async () => {
  const leak = await judged((requests) => 0.5 * requests);
  expect(leak.failure).toMatch(/per 1,000 requests .*128 are allowed/);
  expect(leak.slope).toBeGreaterThan(400);
  expect(leak.slope).toBeLessThan(600);
  expect((await judged(() => 0)).failure).toBeUndefined();
  // What the first requests bring, and samples far off are no leak.
  expect((await judged((requests) => 50_000 * Math.min(1, requests / 1000))).failure).toBeUndefined();
  expect((await judged((requests) => (requests > 40_700 ? 500_000 : 0))).failure).toBeUndefined();
});

test('a soak of some minutes allows more growth than one of an hour', async () => {
  expect((await judged((requests) => 0.5 * requests, 120)).failure).toBeUndefined();
  expect((await judged((requests) => 2 * requests, 120)).failure).toMatch(/1024 are allowed/);
});

test('a soak without enough requests fails on large growth alone, and without samples always', async () => {
  expect((await judged((requests) => 0.5 * requests, 40)).failure).toBeUndefined();
  expect((await judged((requests) => 100 * requests, 40)).failure).toMatch(/4096 are allowed/);
  expect((await judged(() => 0, 5)).failure).toMatch(/too few/);
});

test('the cost of the monitor is measured beside the difference of two equal servers', async () => {
  const args = [
    ...['--starts', '1', '--rounds', '2', '--pageRounds', '2'],
    ...['--clients', '4', '--records', '200'],
  ];
  const { result } = await trial('server/monitor.mjs', ...args);
  const [table] = result.tables;
  const names = table?.rows.map(({ name }) => name);
  expect(names).toContain('cost of the monitor in processor time');
  expect(names).toContain('cost with a page');
  expect(names).toContain('difference of two equal servers');
  // The page was told of turns.
  expect(Number(table?.rows.at(-1)?.value)).toBeGreaterThan(0);
});
