import { afterEach, describe, expect, it } from 'vitest';
import { LorekeepError, type SchedulerOptions, scheduler, setThrottle } from '../../lib/index.js';

afterEach(() => {
  scheduler.configure();
  setThrottle(0);
});

/** The error of a refused call. */
function refusal(action: () => void): LorekeepError {
  try {
    action();
  } catch (error) {
    if (error instanceof LorekeepError) return error;
    throw error;
  }
  return expect.fail('nothing was refused');
}

describe('the scheduler of the library', () => {
  it('counts steps, pauses and tokens by class', () => {
    const stats = scheduler.stats();
    expect(stats.background).toEqual({
      decodeTokens: expect.any(Number),
      prefillTokens: expect.any(Number),
      longestWaitMs: expect.any(Number),
      running: 0,
      queued: 0,
    });
    expect(stats.steps).toBeGreaterThanOrEqual(0);
  });

  it('keeps the throttle level that was set last', () => {
    for (const level of [0.3, 1, 0]) {
      setThrottle(level);
      expect(scheduler.stats().throttle).toBe(level);
    }
  });

  it.each([-0.1, 1.1, Number.NaN, '0.5' as unknown as number, undefined as unknown as number])(
    'refuses the throttle level %s and keeps the last one',
    (level) => {
      setThrottle(0.25);
      expect(refusal(() => setThrottle(level)).code).toBe('INVALID_ARGUMENT');
      expect(scheduler.stats().throttle).toBe(0.25);
    },
  );

  it('takes settings in part', () => {
    const accepted: SchedulerOptions[] = [
      {},
      { enabled: false, prefillYieldEnabled: false },
      { prefillQuantumTokens: 64, stepTargetMs: 'auto' },
      { stepTargetMs: 0, background: {} },
      { interactiveVisible: { maxPauseMs: 0.5, contentionScaling: false, prefillQuantumTokens: 1 } },
    ];
    for (const options of accepted) expect(() => scheduler.configure(options)).not.toThrow();
  });

  it.each<[string, unknown]>([
    ['prefillQuantumTokens', { prefillQuantumTokens: 0 }],
    ['prefillQuantumTokens', { background: { prefillQuantumTokens: 1.5 } }],
    ['maxPauseMs', { background: { maxPauseMs: -1 } }],
    ['stepTargetMs', { stepTargetMs: Number.POSITIVE_INFINITY }],
    ["stepTargetMs: 'auto' or a number is expected", { stepTargetMs: 'never' }],
    ['enabled', { enabled: 1 }],
    ['interactiveBuffered', { interactiveBuffered: 3 }],
    ['settings', null],
    ['settings.step_target_ms', { step_target_ms: 5 }],
    ['background.maxPause', { background: { maxPause: 5 } }],
  ])('refuses a wrong %s by name', (name, options) => {
    const error = refusal(() => scheduler.configure(options as SchedulerOptions));
    expect(error.code).toBe('INVALID_ARGUMENT');
    expect(error.message).toContain(name);
  });
});
