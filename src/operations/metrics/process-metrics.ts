import { readdirSync, readFileSync } from 'node:fs';
import {
  type Histogram,
  constants as kinds,
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { LatencyHistogram } from './latency-histogram.js';
import type { MetricFamily } from './metric-family.js';

// Dashboards for Node.js programs read these names and units.

/** Metrics of this process. Files of Linux that do not exist elsewhere give no sample. */
export function processMetrics(): MetricFamily[] {
  return [...cpuMetrics(), ...memoryMetrics(), ...descriptorMetrics(), ...runtimeMetrics()];
}

function cpuMetrics(): MetricFamily[] {
  const seconds = (name: string, help: string, read: (usage: NodeJS.CpuUsage) => number): MetricFamily => ({
    type: 'counter',
    name: `process_cpu_${name}`,
    help,
    read: (add) => add(read(process.cpuUsage()) / 1e6),
  });
  return [
    seconds('user_seconds_total', 'User processor time.', ({ user }) => user),
    seconds('system_seconds_total', 'System processor time.', ({ system }) => system),
    seconds('seconds_total', 'User and system processor time.', ({ user, system }) => user + system),
  ];
}

const gauge = (name: string, help: string, read: MetricFamily['read']): MetricFamily => ({
  type: 'gauge',
  name,
  help,
  read,
});

function memoryMetrics(): MetricFamily[] {
  const spaces = (
    name: string,
    help: string,
    field: 'space_size' | 'space_used_size' | 'space_available_size',
  ) =>
    gauge(`nodejs_heap_space_size_${name}_bytes`, help, (add) => {
      for (const space of getHeapSpaceStatistics())
        add(space[field], { space: space.space_name.replace(/_space$/, '') });
    });
  return [
    gauge('process_resident_memory_bytes', 'Resident memory.', (add) => add(process.memoryUsage.rss())),
    gauge('process_virtual_memory_bytes', 'Virtual memory.', (add) => addStatus('VmSize', add)),
    gauge('process_heap_bytes', 'Memory of the data segments.', (add) => addStatus('VmData', add)),
    gauge('nodejs_heap_size_total_bytes', 'Size of the heap of V8.', (add) =>
      add(process.memoryUsage().heapTotal),
    ),
    gauge('nodejs_heap_size_used_bytes', 'Used bytes of the heap of V8.', (add) =>
      add(process.memoryUsage().heapUsed),
    ),
    gauge('nodejs_external_memory_bytes', 'Memory of objects that V8 holds outside its heap.', (add) =>
      add(process.memoryUsage().external),
    ),
    spaces('total', 'Size of each space of the heap.', 'space_size'),
    spaces('used', 'Used bytes of each space of the heap.', 'space_used_size'),
    spaces('available', 'Available bytes of each space of the heap.', 'space_available_size'),
  ];
}

/** Adds a value of /proc/self/status in bytes. */
function addStatus(key: string, add: (value: number) => void): void {
  const found = new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(textOf('/proc/self/status'));
  if (found !== null) add(Number(found[1]) * 1024);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function descriptorMetrics(): MetricFamily[] {
  return [
    gauge('process_open_fds', 'Open file descriptors.', (add) => {
      try {
        add(readdirSync('/proc/self/fd').length - 1); // without the descriptor of this listing
      } catch {}
    }),
    gauge('process_max_fds', 'Limit of open file descriptors.', (add) => {
      const limit = /^Max open files\s+(\d+)/m.exec(textOf('/proc/self/limits'));
      if (limit !== null) add(Number(limit[1]));
    }),
  ];
}

/** The delays of the event loop. */
export class EventLoopDelays {
  readonly #delays: Histogram;

  /** `delays`: in nanoseconds. */
  constructor(delays = measuredDelays()) {
    this.#delays = delays;
  }

  /** Returns the delays since the last call, and the current ones. */
  take(): MetricFamily[] {
    const delays = this.#delays;
    const numbers: [name: string, help: string, nanoseconds: number][] = [
      ['min', 'Shortest delay of the event loop.', delays.min],
      ['max', 'Longest delay of the event loop.', delays.max],
      ['mean', 'Mean delay of the event loop.', delays.mean],
      ['stddev', 'Standard deviation of the delays of the event loop.', delays.stddev],
      ...[50, 90, 99].map((rank): [string, string, number] => [
        `p${rank}`,
        `Percentile ${rank} of the delays of the event loop.`,
        delays.percentile(rank),
      ]),
    ];
    const { count } = delays;
    delays.reset();
    return [
      gauge('nodejs_eventloop_lag_seconds', 'Time that a callback waits for its turn now.', async (add) => {
        const asked = performance.now();
        await new Promise((resolve) => setImmediate(resolve));
        add((performance.now() - asked) / 1000);
      }),
      ...numbers.map(([name, help, nanoseconds]) =>
        gauge(`nodejs_eventloop_lag_${name}_seconds`, help, (add) =>
          add(count === 0 ? 0 : nanoseconds / 1e9),
        ),
      ),
    ];
  }
}

function measuredDelays(): Histogram {
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  return delays;
}

function runtimeMetrics(): MetricFamily[] {
  const startSeconds = Math.round(performance.timeOrigin / 1000);
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.');
  return [
    gauge('process_start_time_seconds', 'Start of the process, since 1970.', (add) => add(startSeconds)),
    gauge('nodejs_active_resources', 'Resources that keep the event loop alive, by type.', (add) => {
      for (const [type, count] of resourceCounts()) add(count, { type });
    }),
    gauge('nodejs_active_resources_total', 'Resources that keep the event loop alive.', (add) =>
      add(process.getActiveResourcesInfo().length),
    ),
    gauge('nodejs_version_info', 'Version of Node.js.', (add) =>
      add(1, { version: process.version, major, minor, patch }),
    ),
  ];
}

function resourceCounts(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

const kindNames: Readonly<Record<number, string>> = {
  [kinds.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [kinds.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [kinds.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [kinds.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

/** Durations of all garbage collections from now on. */
export function collectionSeconds(): LatencyHistogram {
  const histogram = new LatencyHistogram(
    'nodejs_gc_duration_seconds',
    'Time of garbage collections by kind: major, minor, incremental or weakcb.',
    'kind',
  );
  const observe = ({ duration, detail }: PerformanceEntry & { detail?: { kind?: number } }) =>
    histogram.series(kindNames[detail?.kind ?? 0] ?? 'other').observe(duration);
  new PerformanceObserver((list) => list.getEntries().forEach(observe)).observe({ entryTypes: ['gc'] });
  return histogram;
}
