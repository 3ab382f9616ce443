import { fork } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const bench = join(import.meta.dirname, '..', '..', 'bench');

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
  expect({ failed: result.failed, status }).toEqual({ failed: [], status: 0 });
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

test('the slope of memory is that of a line through the last two thirds, per 1,000 requests', async () => {
  const { Timeline } = await import(join(bench, 'server/soak/timeline.mjs'));
  const timeline = Object.create(Timeline.prototype);
  // 10 KiB per 1,000 requests after a start that does not count.
  const memory = (i: number) => (i < 10 ? 9000 * i : 500_000 + 10 * i);
  timeline.samples = Array.from({ length: 30 }, (_, i) => ({ requests: 1000 * i, memory: memory(i) }));
  const { slopeKiB, grownMiB } = timeline.memory();
  expect(slopeKiB).toBeCloseTo(10, 6);
  expect(grownMiB).toBeCloseTo((10 * 19) / 1024, 6);
});

test('the cost of the monitor is measured beside the difference of two equal servers', async () => {
  const args = [
    ...['--starts', '1', '--rounds', '2', '--window', '150'],
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
