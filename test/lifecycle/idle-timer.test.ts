import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { IdleTimer } from '../../src/base/waiting/idle-timer.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('an idle timer calls back once when nothing has held it for so long', () => {
  const onIdle = vi.fn();
  const timer = new IdleTimer(1000, onIdle);
  vi.advanceTimersByTime(999);
  const [first, second] = [timer.hold(), timer.hold()];
  vi.advanceTimersByTime(10_000);
  first();
  first();
  vi.advanceTimersByTime(10_000);
  expect(onIdle).not.toHaveBeenCalled();
  second();
  vi.advanceTimersByTime(999);
  expect(onIdle).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  vi.advanceTimersByTime(10_000);
  expect(onIdle).toHaveBeenCalledOnce();
});

it('an idle timer of 0 never calls back, and neither does a stopped one', () => {
  const onIdle = vi.fn();
  const never = new IdleTimer(0, onIdle);
  never.hold()();
  const stopped = new IdleTimer(10, onIdle);
  stopped.stop();
  vi.advanceTimersByTime(10_000);
  expect(onIdle).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
