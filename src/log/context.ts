import { type LogFields, withWorkContext, workContext } from '../base/waiting/work-context.js';

/** Identifies the work in progress; every log line carries it. */
export type LogContext = LogFields;

/** Runs `work`, including its asynchronous continuations, with `context` added. */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  const outer = workContext();
  return withWorkContext({ ...outer, log: { ...outer?.log, ...context } }, work);
}

export function logContext(): LogContext {
  return workContext()?.log ?? {};
}
