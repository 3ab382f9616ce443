export interface NativeSchedulerClass {
  prefillQuantumTokens?: number | undefined;
  contentionScaling?: boolean | undefined;
  maxPauseMs?: number | undefined;
}

/** See native/scheduler/settings.h. */
export interface NativeSchedulerSettings {
  enabled?: boolean | undefined;
  prefillYieldEnabled?: boolean | undefined;
  prefillQuantumTokens?: number | undefined;
  stepTargetMs?: number | undefined;
  interactiveVisible?: NativeSchedulerClass | undefined;
  interactiveBuffered?: NativeSchedulerClass | undefined;
  background?: NativeSchedulerClass | undefined;
}

/** Counts of one class since the process started, and its requests now. */
export interface SchedulerClassStats {
  decodeTokens: number;
  prefillTokens: number;
  /** Longest time that a request which could run waited for a step. */
  longestWaitMs: number;
  /** Requests under way, and requests that wait for room in the cache. */
  running: number;
  queued: number;
}

/**
 * Why a step was computed by as many threads as it was: `all` that the model's options say, or fewer: for the `throttle`; because
 * the system `refused` to start more; because fewer were faster beside `neighbours`, other programs that keep the processors busy;
 * or another number for a `trial`, to learn whether it is faster again.
 */
export type ThreadReason = 'all' | 'throttle' | 'refused' | 'trial' | 'neighbours';

/** Counts since the process started. */
export interface SchedulerStats {
  /** The level set last, 0 to 1. */
  throttle: number;
  steps: number;
  /** Time in steps. */
  busyMs: number;
  longestStepMs: number;
  /** Chunks of prompts that the step target made smaller. */
  chunksCut: number;
  pauses: number;
  pausedMs: number;
  /** Requests under way, and requests that wait for room in the cache. */
  running: number;
  queued: number;
  /** Threads that the latest step could use. */
  threads: number;
  /** Why these. */
  threadReason: ThreadReason;
  interactiveVisible: SchedulerClassStats;
  interactiveBuffered: SchedulerClassStats;
  background: SchedulerClassStats;
}
