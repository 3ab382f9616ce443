import { refuse, refuseUnknownFields } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError, translateError } from '../boundary/errors.js';
import type { NativeSchedulerSettings, SchedulerStats } from '../boundary/native.js';
import { describe } from '../boundary/native-call.js';
import { restMerges } from '../search/background-merges.js';

export type { SchedulerClassStats, SchedulerStats, ThreadReason } from '../boundary/native.js';

/** Settings of one class of consumers. Absent ones have the class's default. */
export interface SchedulerClassOptions {
  /** Prompt tokens per step, at most the model's batch size: 256, 512 and 128 by class. */
  prefillQuantumTokens?: number | undefined;
  /** Divides the chunk among competing prompts, down to 64 tokens: true, false and true by class. */
  contentionScaling?: boolean | undefined;
  /** Longest pause after a step at throttle level 1, in ms: 10, 50 and 50 by class. */
  maxPauseMs?: number | undefined;
}

export interface SchedulerOptions {
  /** false: first come, first served, whole batches, no pauses. Default true. */
  enabled?: boolean | undefined;
  /** false: a prompt fills whole batches until it is finished. Default true. */
  prefillYieldEnabled?: boolean | undefined;
  /** Chunk size of every class, if no class has a block. */
  prefillQuantumTokens?: number | undefined;
  /** Longest step while an interactive reply streams, in ms; 0: no limit. Default: three decode steps and 50 ms. */
  stepTargetMs?: number | 'auto' | undefined;
  /** Replies that somebody reads while they are written. */
  interactiveVisible?: SchedulerClassOptions | undefined;
  /** Replies that are shown or spoken in sentences. */
  interactiveBuffered?: SchedulerClassOptions | undefined;
  /** Work without a waiting user. */
  background?: SchedulerClassOptions | undefined;
}

const classNames = ['interactiveVisible', 'interactiveBuffered', 'background'] as const;
const classFields = {
  prefillQuantumTokens: true,
  contentionScaling: true,
  maxPauseMs: true,
} satisfies Record<keyof SchedulerClassOptions, true>;
const settingFields = {
  enabled: true,
  prefillYieldEnabled: true,
  prefillQuantumTokens: true,
  stepTargetMs: true,
  interactiveVisible: true,
  interactiveBuffered: true,
  background: true,
} satisfies Record<keyof SchedulerOptions, true>;

/** The scheduler of this process's language models. All threads share it. */
export const scheduler = {
  /**
   * Replaces the settings; absent ones have their defaults. They hold from the next step on.
   * @throws INVALID_ARGUMENT with the setting's name
   */
  configure(options: SchedulerOptions = {}): void {
    refuseUnknownFields('settings', options, settingFields);
    for (const name of classNames) refuseUnknownFields(name, options[name] ?? {}, classFields);
    const { stepTargetMs, ...rest } = options;
    const target = stepTargetMs === 'auto' ? undefined : stepTargetMs;
    if (typeof target === 'string') refuse('stepTargetMs', `'auto' or a number is expected, not "${target}"`);
    call(() => binding.configureScheduler({ ...rest, stepTargetMs: target } as NativeSchedulerSettings));
  },

  stats(): SchedulerStats {
    return call(() => binding.schedulerStats());
  },
};

/**
 * Sets how much the inference thread rests, so that another program (a game) gets its share of the processor: after each
 * step it pauses for `level` times the shortest `maxPauseMs` of the classes in the step. 0, the default, is no pause. Above 0,
 * storages do not merge their parts in the background.
 * @throws INVALID_ARGUMENT: not a number from 0 to 1
 */
export function setThrottle(level: number): void {
  if (typeof level !== 'number' || !(level >= 0 && level <= 1)) {
    const found = typeof level === 'number' ? level : describe(level);
    throw new LorekeepError('INVALID_ARGUMENT', `level: a number from 0 to 1 is expected, not ${found}`, {
      field: 'level',
    });
  }
  call(() => binding.setThrottle(level));
  restMerges(level > 0);
}

function call<T>(native: () => T): T {
  try {
    return native();
  } catch (error) {
    throw translateError(error);
  }
}
