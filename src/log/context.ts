import { AsyncLocalStorage } from 'node:async_hooks';

/** Whose work it is: every line that is logged meanwhile carries it. */
export interface LogContext {
  client?: string | undefined;
  session?: string | undefined;
  agent?: string | undefined;
  turn?: string | undefined;
}

const current = new AsyncLocalStorage<LogContext>();

/** Runs `work` with these added to the context, up to the end of what it awaits. */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return current.run({ ...current.getStore(), ...context }, work);
}

export function logContext(): LogContext {
  return current.getStore() ?? {};
}
