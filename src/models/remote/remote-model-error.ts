import type { ErrorCode } from '../../../lib/internal.js';
import { ModelLoadError } from '../model-load-error.js';

/** What went wrong with a server, and the code of the library for it. */
const kinds = {
  /** There is no connection, or it was lost. */
  unreachable: 'IO',
  /** No answer, or no further part of it, in time. */
  timeout: 'IO',
  /** The server refuses the request. */
  refused: 'IO',
  /** It has too much to do, or fails. */
  busy: 'IO',
  /** The text has more tokens than its model accepts. */
  'too-long': 'TEXT_TOO_LONG',
  /** An answer with more bytes than any right one. */
  'too-large': 'MODEL_INVALID',
  /** An answer that is not what the interface says. */
  malformed: 'MODEL_INVALID',
  dimension: 'DIMENSION_MISMATCH',
  /** It computes another model than before. */
  changed: 'CORRUPT',
  /** The secret, a certificate file or an option of the entry cannot be used. */
  settings: 'INVALID_ARGUMENT',
} as const satisfies Record<string, ErrorCode>;

export type RemoteFailureKind = keyof typeof kinds;

/** Failures that say something about the model or the entry. All others may be over at the next request. */
const verdicts: ReadonlySet<RemoteFailureKind> = new Set(['too-long', 'dimension', 'changed', 'settings']);

/** The entry of the catalog that an error is about. */
export interface RemoteEntry {
  /** Catalog name. */
  readonly name: string;
  /** Path of the catalog. */
  readonly file: string;
  /** Host and port of the server. */
  readonly host: string;
}

interface RemoteFailureFacts {
  readonly status?: number;
  readonly cause?: unknown;
  readonly retryable?: boolean;
  readonly pauseMs?: number | undefined;
}

/** Another server failed to compute a model. It has no text of that server, and `told` does not name its host. */
export class RemoteModelError extends ModelLoadError {
  override readonly name = 'RemoteModelError';
  readonly kind: RemoteFailureKind;
  /** What the server does. */
  readonly problem: string;
  /** HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The pause in ms before another try: the server's wish, or that of its circuit breaker. */
  readonly pauseMs: number | undefined;

  /** Whether the server was not there for the request, whatever it asked for. Some servers answer 500 to a request that they dislike. */
  get isAbsence(): boolean {
    if (this.kind === 'busy') return this.status !== undefined && this.status !== 500;
    return this.kind === 'unreachable' || this.kind === 'timeout';
  }

  /** Whether the server computes nothing at present, so that it may still have the same model. */
  get isOutage(): boolean {
    return !verdicts.has(this.kind);
  }

  /** `problem`: what "the server" does. */
  constructor(
    kind: RemoteFailureKind,
    { name: model, file, host }: RemoteEntry,
    problem: string,
    { status, cause, retryable = false, pauseMs }: RemoteFailureFacts = {},
  ) {
    const told = `the server that computes it ${problem}`;
    const reason = `the server ${host} ${problem}`;
    super(kinds[kind], { model, file, reason, told }, { cause });
    this.kind = kind;
    this.problem = problem;
    this.status = status;
    this.retryable = retryable;
    this.pauseMs = pauseMs;
  }
}
