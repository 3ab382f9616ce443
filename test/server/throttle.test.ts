import { expect, it, onTestFinished, vi } from 'vitest';
import { scheduler } from '../../lib/index.js';
import { Throttle } from '../../src/server/throttle.js';
import { refusal } from '../helpers/errors.js';
import { TestServer } from './test-server.js';

const silenceMs = 10_000;

/** A board of fake time, and the levels that it applied. */
function scene() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const applied: number[] = [];
  return { throttle: new Throttle((level) => applied.push(level)), applied };
}

it('the highest level of all clients counts', () => {
  const { throttle, applied } = scene();
  const [first, second] = [throttle.join(), throttle.join()];
  first.report(0.5);
  second.report(0.8);
  first.report(0.6);
  second.report(0.1);
  first.report(0);
  second.report(0);
  expect(applied).toEqual([0.5, 0.8, 0.6, 0.1, 0]);
});

it('a level ends after 10 s without a word of its client', () => {
  const { throttle } = scene();
  const [silent, talking] = [throttle.join(), throttle.join()];
  silent.report(1);
  talking.report(0.2);
  vi.advanceTimersByTime(silenceMs - 1);
  expect(throttle.level).toBe(1);
  talking.heard();
  vi.advanceTimersByTime(1);
  expect(throttle.level).toBe(0.2);
  vi.advanceTimersByTime(silenceMs - 2);
  expect(throttle.level).toBe(0.2);
  talking.report(0.3);
  vi.advanceTimersByTime(silenceMs - 1);
  expect(throttle.level).toBe(0.3);
  vi.advanceTimersByTime(1);
  expect(throttle.level).toBe(0);
  talking.heard();
  expect([throttle.level, vi.getTimerCount()]).toEqual([0, 0]);
});

it('a level ends with its connection, and no report comes after', () => {
  const { throttle, applied } = scene();
  const client = throttle.join();
  client.report(0.4);
  client.end();
  client.report(0.9);
  client.heard();
  expect(applied).toEqual([0.4, 0]);
  expect(vi.getTimerCount()).toBe(0);
});

it('a server throttles its inference as its clients report', async () => {
  const server = await TestServer.start();
  const [first, second] = [await server.connect(), await server.connect()];
  await first.reportThrottle(0.25);
  await second.reportThrottle(0.75);
  expect((await first.status()).throttle).toBe(0.75);
  expect(scheduler.stats().throttle).toBe(0.75);
  await second.close();
  await vi.waitFor(async () => expect((await first.status()).throttle).toBe(0.25), 10_000);
  expect(scheduler.stats().throttle).toBe(0.25);
  await server.server.close();
  expect(scheduler.stats().throttle).toBe(0);
});

it('a level outside 0 to 1 is refused', async () => {
  const client = await (await TestServer.start()).connect();
  for (const level of [-0.01, 1.01]) {
    expect((await refusal(client.reportThrottle(level))).details).toMatchObject({ path: 'level' });
  }
  expect((await client.status()).throttle).toBe(0);
});
