import { type ErrorCode, type ErrorDetail, type ErrorDetailByCode, errorCodes } from './error-details.js';

/** `detail` may be left out unless the code demands facts. */
type DetailArguments<Code extends ErrorCode> = Code extends 'TEXT_TOO_LONG'
  ? [detail: ErrorDetailByCode[Code], options?: ErrorOptions]
  : [detail?: ErrorDetailByCode[Code], options?: ErrorOptions];

/** @internal The base class of the library's errors. Its public type, LorekeepError, narrows `detail` by `code`. */
export class AnyLorekeepError extends Error {
  static override readonly name: string = 'LorekeepError';
  override readonly name: string = 'LorekeepError';
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.detail = detail;
  }

  static about(code: ErrorCode, facts: ErrorDetail, options?: ErrorOptions): AnyLorekeepError {
    return new AnyLorekeepError(code, messageOf(facts), facts, options);
  }
}

/** @internal Words the facts of an error: `file:line:column: field: reason; remedy`, or a line for each of several mistakes. */
export function messageOf({ file, line, column, field, reason, remedy, issues }: ErrorDetail): string {
  if (issues !== undefined)
    return issues.map((issue) => (/^\d/.test(issue) ? `${file}:${issue}` : issue)).join('\n');
  const place = [file, line, column].filter((part) => part !== undefined && part !== '').join(':');
  const places = [place, field].filter((part) => part !== undefined && part !== '');
  const sentence = remedy === undefined ? reason : `${reason}; ${remedy}`;
  return [...places, sentence].join(': ');
}

/** The error of every function of the library. Comparing `code` narrows `detail`; show `message`. */
export type LorekeepError = {
  [Code in ErrorCode]: Error & {
    /** Kind of the error: docs/reference/api.md. */
    readonly code: Code;
    /** The facts of the message, for programs. */
    readonly detail: ErrorDetailByCode[Code];
  };
}[ErrorCode];

interface LorekeepErrorClass {
  new <Code extends ErrorCode>(code: Code, message: string, ...rest: DetailArguments<Code>): LorekeepError;
  /** Returns an error with the message `file:line:column: field: reason; remedy`. `detail` holds all facts. */
  about<Code extends ErrorCode>(
    code: Code,
    facts: ErrorDetailByCode[Code] & ({ readonly reason: string } | { readonly issues: readonly string[] }),
    options?: ErrorOptions,
  ): LorekeepError;
  readonly prototype: LorekeepError;
}

/** The class of the library's errors: `error instanceof LorekeepError`. */
export const LorekeepError = AnyLorekeepError as unknown as LorekeepErrorClass;

/** The error of an aborted call: `name` is "AbortError", as everywhere in Node, and `code` is "CANCELLED". */
export class AbortError extends AnyLorekeepError {
  override readonly name = 'AbortError';
  declare readonly code: 'CANCELLED';
  declare readonly detail: ErrorDetailByCode['CANCELLED'];

  constructor(reason: unknown) {
    super('CANCELLED', 'the operation was aborted', {}, { cause: reason });
  }
}

const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === 'string' && Object.hasOwn(errorCodes, value);

/** The addon gives the mistakes of a file as lines, and ids as JSON. */
type NativeDetail = Omit<ErrorDetail, 'issues' | 'ids'> & { issues?: string; ids?: string };

/** Converts the addon's plain errors with `code` and `detail` to LorekeepError. Returns others unchanged. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AnyLorekeepError) return error;
  // Arguments have been checked: only a failed array allocation remains.
  if (error instanceof RangeError)
    return new LorekeepError('OUT_OF_MEMORY', 'not enough memory for the result', {}, { cause: error });
  const { code, detail } = error as Error & { code?: unknown; detail?: NativeDetail };
  if (!isErrorCode(code)) return error;
  const { issues, ids, ...facts } = detail ?? {};
  const listed = {
    ...facts,
    ...(issues !== undefined && { issues: issues.split('\n') }),
    ...(ids !== undefined && { ids: JSON.parse(ids) as string[] }),
  };
  return new AnyLorekeepError(code, error.message, listed);
}
