import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { schedulerOptions } from '../../src/config/scheduler-options.js';
import { temporaryFolder } from '../helpers/folder.js';

const inFolder = temporaryFolder();

/** The library's settings for a config file with this `inference.scheduler`. */
async function optionsOf(scheduler: object) {
  const file = inFolder('server-config.json');
  writeFileSync(file, JSON.stringify({ engines: { llm_engine: { inference: { scheduler } } } }));
  const { config } = await loadConfig({ '--config': file });
  return schedulerOptions(config);
}

const defaults = {
  enabled: true,
  prefillYieldEnabled: true,
  stepTargetMs: 'auto',
  interactiveVisible: { prefillQuantumTokens: 256, contentionScaling: true, maxPauseMs: 10 },
  interactiveBuffered: { prefillQuantumTokens: 512, contentionScaling: false, maxPauseMs: 50 },
  background: { prefillQuantumTokens: 128, contentionScaling: true, maxPauseMs: 50 },
};

it('absent blocks and fields have their defaults', async () => {
  expect(await optionsOf({})).toEqual(defaults);
  expect(await optionsOf({ interactive_visible: { max_pause_ms: 3 }, background: {} })).toEqual({
    ...defaults,
    interactiveVisible: { ...defaults.interactiveVisible, maxPauseMs: 3 },
  });
});

it('every field reaches the library', async () => {
  const block = (prefill_quantum_tokens: number, contention_scaling: boolean, max_pause_ms: number) => ({
    prefill_quantum_tokens,
    contention_scaling,
    max_pause_ms,
  });
  const written = {
    enabled: false,
    prefill_yield_enabled: false,
    step_target_ms: 120,
    interactive_visible: block(1, false, 2),
    interactive_buffered: block(3, true, 4),
    background: block(5, false, 6),
  };
  expect(await optionsOf(written)).toEqual({
    enabled: false,
    prefillYieldEnabled: false,
    stepTargetMs: 120,
    interactiveVisible: { prefillQuantumTokens: 1, contentionScaling: false, maxPauseMs: 2 },
    interactiveBuffered: { prefillQuantumTokens: 3, contentionScaling: true, maxPauseMs: 4 },
    background: { prefillQuantumTokens: 5, contentionScaling: false, maxPauseMs: 6 },
  });
});

it('prefill_quantum_tokens outside the blocks applies to every class, unless a class has a block', async () => {
  const quanta = async (scheduler: object) => {
    const { interactiveVisible, interactiveBuffered, background } = await optionsOf(scheduler);
    return [interactiveVisible, interactiveBuffered, background].map((each) => each?.prefillQuantumTokens);
  };
  expect(await quanta({ prefill_quantum_tokens: 300 })).toEqual([300, 300, 300]);
  expect(await quanta({ prefill_quantum_tokens: 300, background: {} })).toEqual([256, 512, 128]);
  const contention = await optionsOf({ prefill_quantum_tokens: 300 });
  expect(contention.interactiveBuffered).toMatchObject({ contentionScaling: false, maxPauseMs: 50 });
});

it.each([-1, 1.5, 'off', true])('step_target_ms is not %s', async (step_target_ms) => {
  const expected = 'step_target_ms: "auto" or an integer from 0 to 60000 is expected';
  await expect(optionsOf({ step_target_ms })).rejects.toThrow(expected);
});
