import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** As in web/monitor/api.ts, which is compiled for browsers. */
interface Handlers {
  onTurns(turns: readonly { seq: number }[]): void;
  onRestart(): void;
  onLines(lines: string[]): void;
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
    onLines: (lines) => seen.push(lines),
    onMemory: () => {},
    onState: () => {},
  });
  const turns = (instance: string, ...seqs: number[]) =>
    Source.latest.send('turns', { instance, turns: seqs.map((seq) => ({ seq })) });
  return { seen, turns };
}

it('a page takes turns and lines several at a time', () => {
  const { seen, turns } = followed();
  turns('a');
  turns('a', 1, 2);
  turns('a', 3);
  Source.latest.send('log', ['one', 'two']);
  Source.latest.send('log', ['three']);
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
