import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { latestLines } from '../../web/monitor/latest-lines.js';

/** As in web/monitor/api.ts, which is compiled for browsers. */
interface Handlers {
  onTurns(turns: readonly { seq: number }[]): void;
  onRestart(): void;
  onLines(lines: string[], missed: number): void;
  onMemory(): void;
  onState(): void;
}

const page = '../../web/monitor/api.js';
const { follow } = (await import(page)) as { follow(handlers: Handlers): void };

type Listener = (event: { data: string }) => void;

/** The browser's EventSource, driven by the test. */
class Source {
  static latest: Source;
  readonly listeners = new Map<string, Listener>();

  constructor(readonly url: string) {
    Source.latest = this;
  }

  addEventListener(name: string, listener: Listener): void {
    this.listeners.set(name, listener);
  }

  send(name: string, data: unknown): void {
    this.listeners.get(name)?.({ data: JSON.stringify(data) });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', Source);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function followed() {
  const seen: unknown[] = [];
  follow({
    onTurns: (turns) => seen.push(turns.map(({ seq }) => seq)),
    onRestart: () => seen.push('restart'),
    onLines: (lines, missed) => seen.push(missed === 0 ? lines : [missed, ...lines]),
    onMemory: () => {},
    onState: () => {},
  });
  const turns = (instance: string, ...seqs: number[]) =>
    Source.latest.send('turns', { instance, turns: seqs.map((seq) => ({ seq })) });
  const log = (instance: string, seq: number, ...lines: string[]) =>
    Source.latest.send('log', { instance, seq, lines });
  const logWith = (earlier: { seq: number; line: string }[], seq: number, ...lines: string[]) =>
    Source.latest.send('log', { instance: 'a', earlier, seq, lines });
  return { seen, turns, log, logWith };
}

it('a page takes turns and lines several at a time', () => {
  const { seen, turns, log } = followed();
  turns('a');
  turns('a', 1, 2);
  turns('a', 3);
  log('a', 1, 'one', 'two');
  log('a', 3, 'three');
  expect(seen).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual([
    [1, 2, 3],
    ['one', 'two', 'three'],
  ]);
});

it('a page forgets the turns of a server that has been restarted, whatever their numbers', () => {
  const { seen, turns } = followed();
  turns('a', 700, 701);
  vi.advanceTimersByTime(1000);
  turns('a', 702);
  turns('b');
  turns('b', 1, 2);
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual([[700, 701], 'restart', [1, 2]]);
});

it('a page shows each line once after it has reconnected, and says how many it has missed', () => {
  const { seen, log } = followed();
  const pass = () => vi.advanceTimersByTime(1000);
  log('a', 101, 'line 101', 'line 102');
  pass();
  log('a', 101, 'line 101', 'line 102', 'line 103');
  log('a', 102, 'line 102', 'line 103');
  pass();
  log('a', 110, 'line 110');
  pass();
  log('b', 1, 'another line 1');
  pass();
  expect(seen).toEqual([
    ['line 101', 'line 102'],
    ['line 103'],
    [6, 'line 110'],
    'restart',
    ['another line 1'],
  ]);
});

it('a page gets warnings from before the lines that are still kept, each once', () => {
  const { seen, logWith } = followed();
  const warnings = [2, 7].map((seq) => ({ seq, line: `warning ${seq}` }));
  logWith(warnings, 101, 'line 101');
  vi.advanceTimersByTime(1000);
  logWith([...warnings, { seq: 105, line: 'warning 105' }], 110, 'line 110');
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual([
    ['warning 2', 'warning 7', 'line 101'],
    [7, 'warning 105', 'line 110'],
  ]);
});

it('a page keeps 500 lines, and 500 warnings and errors among all', () => {
  const line = (level: string, n: number) => JSON.stringify({ level, n });
  const lines = (level: string, count: number) => Array.from({ length: count }, (_, n) => line(level, n));
  const debug = lines('debug', 600);
  expect(latestLines(debug)).toEqual(debug.slice(-500));
  const severe = [line('warn', 0), line('error', 1)];
  expect(latestLines([...severe, ...debug])).toEqual([...severe, ...debug.slice(-500)]);
  const warnings = lines('warn', 700);
  expect(latestLines(warnings)).toEqual(warnings.slice(-500));
  expect(latestLines([...warnings, ...debug])).toEqual([...warnings.slice(-500), ...debug.slice(-500)]);
  expect(latestLines(debug.slice(0, 3))).toEqual(debug.slice(0, 3));
});
