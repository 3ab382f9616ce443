import { AsyncLocalStorage } from 'node:async_hooks';

/** Identifies the work in progress; every log line carries it. */
export interface LogContext {
  client?: string | undefined;
  session?: string | undefined;
  agent?: string | undefined;
  turn?: string | undefined;
}

const current = new AsyncLocalStorage<LogContext>();

/** Runs `work`, including its asynchronous continuations, with `context` added. */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return current.run({ ...current.getStore(), ...context }, work);
}

export function logContext(): LogContext {
  return current.getStore() ?? {};
}
