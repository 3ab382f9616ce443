/** Every error code of the library, with its meaning. */
export const errorCodes = {
  INVALID_ARGUMENT: 'an argument can never work; `message` names it and the expected values',
  NOT_FOUND: 'a named file does not exist',
  IO: 'the operating system refused a read or a write',
  CORRUPT: "a file's content contradicts itself or its checksum",
  UNSUPPORTED: 'well-formed, but not supported by this version',
  DIMENSION_MISMATCH: 'a vector or a file has another dimension than the index or the model',
  TEXT_TOO_LONG: "a text has more tokens than the model's context; `detail` has index, tokens and limit",
  MODEL_INVALID: 'a model file cannot be used; `message` gives the reason',
  CANCELLED: "the caller's AbortSignal; `cause` is the signal's reason",
  CLOSED: 'the object was closed before the call',
  OUT_OF_MEMORY: 'an allocation failed',
  DEVICE_LOST: 'a GPU failed or was taken away; load the model again',
  INTERNAL: 'a bug in lorekeep',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Named facts about an error: numbers and strings, or lists of such objects. */
export type ErrorDetail = Readonly<Record<string, unknown>>;

/** The parts of an error message, and other facts. */
export interface ErrorFacts extends ErrorDetail {
  /** Path of the file concerned. */
  readonly file?: string | undefined;
  /** The argument, option, or field of the file: `rrf.weights`, `strings[3]`. */
  readonly field?: string | undefined;
  /** The problem, without its location. */
  readonly reason: string;
  /** How to fix it. */
  readonly remedy?: string | undefined;
}

/** The error of every function of the library. Branch on `code`; show `message`. */
export class LorekeepError extends Error {
  override readonly name: string = 'LorekeepError';
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.detail = detail;
  }

  /** Returns an error with the message `file: field: reason; remedy`. `detail` holds all facts. */
  static about(code: ErrorCode, facts: ErrorFacts, options?: ErrorOptions): LorekeepError {
    const { file, field, reason, remedy } = facts;
    const places = [file, field].filter((place) => place !== undefined && place !== '');
    const sentence = remedy === undefined ? reason : `${reason}; ${remedy}`;
    return new LorekeepError(code, [...places, sentence].join(': '), facts, options);
  }
}

/** The error of an aborted call: `name` is "AbortError", as everywhere in Node, and `code` is "CANCELLED". */
export class AbortError extends LorekeepError {
  override readonly name = 'AbortError';

  constructor(reason: unknown) {
    super('CANCELLED', 'the operation was aborted', {}, { cause: reason });
  }
}

const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === 'string' && Object.hasOwn(errorCodes, value);

/** Converts the addon's plain errors with `code` and `detail` to LorekeepError. Returns others unchanged. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof LorekeepError) return error;
  // Arguments have been checked: only a failed array allocation remains.
  if (error instanceof RangeError)
    return new LorekeepError('OUT_OF_MEMORY', 'not enough memory for the result', {}, { cause: error });
  const { code, detail } = error as Error & { code?: unknown; detail?: ErrorDetail };
  return isErrorCode(code) ? new LorekeepError(code, error.message, detail) : error;
}
