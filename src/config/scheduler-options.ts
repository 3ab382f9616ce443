import type { SchedulerOptions } from '../../lib/internal.js';
import type { ServerConfig } from './schema.js';

type SchedulerConfig = ServerConfig['engines']['llm_engine']['inference']['scheduler'];

/** Returns the settings of the library's scheduler from a config. */
export function schedulerOptions({ engines }: ServerConfig): SchedulerOptions {
  const { scheduler } = engines.llm_engine.inference;
  return {
    enabled: scheduler.enabled,
    prefillYieldEnabled: scheduler.prefill_yield_enabled,
    stepTargetMs: scheduler.step_target_ms,
    interactiveVisible: classOptions(scheduler.interactive_visible),
    interactiveBuffered: classOptions(scheduler.interactive_buffered),
    background: classOptions(scheduler.background),
  };
}

function classOptions(block: SchedulerConfig['background']) {
  return {
    prefillQuantumTokens: block.prefill_quantum_tokens,
    contentionScaling: block.contention_scaling,
    maxPauseMs: block.max_pause_ms,
  };
}
