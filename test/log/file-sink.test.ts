import { describe, expect, it, vi } from 'vitest';
import { FileSink, type FlushRules } from '../../src/log/file-sink.js';
import { levelNumbers } from '../../src/log/sink.js';

/** A file that fails as long as it is told to. */
class FakeFile {
  lines: string[] = [];
  full = false;

  append(lines: readonly string[]): void {
    if (this.full) throw new Error('ENOSPC: no space left on device, write');
    this.lines.push(...lines);
  }

  close(): void {}
}

function open(rules: Partial<FlushRules> = {}) {
  const file = new FakeFile();
  const failures: string[] = [];
  const all = { flushLevel: levelNumbers.warn, flushEveryMs: 0, ...rules };
  const sink = new FileSink(file, all, ({ message }) => failures.push(message));
  return { file, failures, sink };
}

describe('a log file', () => {
  it('gets its lines at once from a level on, with all before them', () => {
    const { file, sink } = open();
    sink.write('a', levelNumbers.trace);
    sink.write('b', levelNumbers.info);
    expect(file.lines).toEqual([]);
    sink.write('c', levelNumbers.warn);
    expect(file.lines).toEqual(['a', 'b', 'c']);
    sink.write('d', levelNumbers.error);
    expect(file.lines).toHaveLength(4);
  });

  it('gets them at intervals, and at the end', () => {
    vi.useFakeTimers();
    const { file, sink } = open({ flushLevel: Number.POSITIVE_INFINITY, flushEveryMs: 5000 });
    sink.write('a', levelNumbers.error);
    vi.advanceTimersByTime(4999);
    expect(file.lines).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(file.lines).toEqual(['a']);
    sink.write('b', levelNumbers.info);
    sink.close();
    expect(file.lines).toEqual(['a', 'b']);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('gets them before they fill the memory when no rule does', () => {
    const { file, sink } = open({ flushLevel: Number.POSITIVE_INFINITY });
    const line = 'x'.repeat(1000);
    for (let index = 0; index < 1100; index++) sink.write(line, levelNumbers.info);
    expect(file.lines.length).toBeGreaterThan(1000);
  });

  it('loses lines while the disk is full, reports it once, and says how many when it is not', () => {
    const { file, failures, sink } = open();
    file.full = true;
    for (let index = 0; index < 5; index++) sink.write('lost', levelNumbers.warn);
    expect(failures).toEqual(['ENOSPC: no space left on device, write']);
    file.full = false;
    sink.write('kept', levelNumbers.warn);
    expect(file.lines).toHaveLength(2);
    expect(JSON.parse(file.lines[0] as string)).toMatchObject({ level: 'warn', lines: 5 });
    expect(file.lines[1]).toBe('kept');
    file.full = true;
    sink.write('lost', levelNumbers.warn);
    expect(failures).toHaveLength(2);
  });
});
