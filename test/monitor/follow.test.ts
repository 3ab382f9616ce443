import { afterEach, beforeEach, expect, it, vi } from 'vitest';

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
  return { seen, turns, log };
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
