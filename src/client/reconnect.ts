/** How to replace a lost connection. */
export interface ReconnectPolicy {
  /** Attempts before giving up, at least 1. */
  attempts: number;
  /** Milliseconds before the first attempt; each further one waits twice as long. */
  minDelayMs: number;
  /** Longest wait between two attempts, in milliseconds. */
  maxDelayMs: number;
}

const defaults: ReconnectPolicy = { attempts: 10, minDelayMs: 100, maxDelayMs: 5000 };

/** Returns the policy with defaults. @throws RangeError that names the setting */
export function reconnectPolicy(given: Partial<ReconnectPolicy> | boolean): ReconnectPolicy | undefined {
  if (given === false) return undefined;
  const policy = { ...defaults, ...(given === true ? {} : given) };
  checkInteger('attempts', policy.attempts, 1);
  checkInteger('minDelayMs', policy.minDelayMs, 0);
  checkInteger('maxDelayMs', policy.maxDelayMs, policy.minDelayMs);
  return policy;
}

/**
 * Milliseconds to wait before an attempt, counted from 0: a random time between half of the doubled delay and all of it, so
 * that the clients of a server that restarts do not come back all at once.
 */
export function delayOf({ minDelayMs, maxDelayMs }: ReconnectPolicy, attempt: number): number {
  const longest = Math.min(maxDelayMs, minDelayMs * 2 ** attempt);
  return longest * (0.5 + Math.random() / 2);
}

function checkInteger(name: keyof ReconnectPolicy, value: number, least: number): void {
  if (!Number.isInteger(value) || value < least) {
    throw new RangeError(`reconnect.${name}: an integer from ${least} is expected, not ${value}`);
  }
}
