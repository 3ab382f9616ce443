import { AsyncLocalStorage } from 'node:async_hooks';

/** The request or turn in progress. One context for all its readers: each costs every promise of the process some time. */
export interface WorkContext {
  /** Time slices of the client that asked for it. */
  readonly slices?: ClientSlices | undefined;
  /** Type of the request. */
  readonly request?: string | undefined;
  /** Waits for the client's turn at another machine, and runs work there. Meanwhile the client holds no thread of this one. */
  readonly away?: Away | undefined;
  /** Fields of its log lines. */
  readonly log?: LogFields | undefined;
}

/** Another machine that computes for clients. */
export interface OtherMachine {
  /** Calls that it takes at a time. */
  readonly parallel: number;
}

export type Away = <T>(machine: OtherMachine, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** One client's slices of the event loop. */
export interface ClientSlices {
  /** Resolves when the client may use the event loop. The client is charged for the time until the next `await` of slow work. */
  nextSlice(): Promise<void>;
  /** How long the client may work before it waits for its next slice, in ms. */
  readonly sliceMs: number;
}

/** Names the client, session, agent and turn that work belongs to. */
export interface LogFields {
  client?: string | undefined;
  session?: string | undefined;
  agent?: string | undefined;
  turn?: string | undefined;
}

const current = new AsyncLocalStorage<WorkContext>();

/** Runs `work`, including its asynchronous continuations, in `context`. */
export function withWorkContext<T>(context: WorkContext, work: () => T): T {
  return current.run(context, work);
}

export function workContext(): WorkContext | undefined {
  return current.getStore();
}
