import type { ErrorDetailsByCode } from './error-details.js';
import { errorTable } from './error-table.js';

export { type ErrorRow, errorTable } from './error-table.js';

export type ErrorCode = keyof typeof errorTable;

/** An error of a turn or a request, by `code`. */
export type ErrorFields = {
  [Code in ErrorCode]: {
    /** Error code: docs/reference/errors.md. */
    code: Code;
    /** The code's name. */
    name: (typeof errorTable)[Code]['name'];
    /** Names the field and the fix. */
    message: string;
    /** The same facts for programs. */
    details: ErrorDetailsByCode[Code];
  };
}[ErrorCode];

/** Named facts about an error, for programs; `message` is for people. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * The content of an Error frame. The server throws it to refuse one request; the client throws it when it receives one.
 * `name` is the code's name, as on the wire. A newer server may send codes that this table lacks.
 */
export class ServerError extends Error {
  override readonly name: string;
  readonly code: number;
  readonly details: ErrorDetails;

  constructor(
    code: number,
    name: string,
    message: string,
    details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.name = name;
    this.details = details;
  }

  /** How to mend it; empty for a code of a newer server. */
  get remedy(): string {
    const rows: Readonly<Record<number, { remedy: string } | undefined>> = errorTable;
    return rows[this.code]?.remedy ?? '';
  }

  /** Returns the message for readers who know its field (`details.path`, with which messages begin) by another name. */
  messageAbout(field: string): string {
    const { path } = this.details as { path?: unknown };
    const begin = typeof path === 'string' ? path.length : 0;
    return begin > 0 && this.message.slice(0, begin) === path
      ? field + this.message.slice(begin)
      : this.message;
  }
}

/** The details of a code; optional if the code requires none. */
type DetailsArgument<Code extends ErrorCode> =
  Partial<ErrorDetailsByCode[Code]> extends ErrorDetailsByCode[Code]
    ? [details?: ErrorDetailsByCode[Code], options?: ErrorOptions]
    : [details: ErrorDetailsByCode[Code], options?: ErrorOptions];

export function serverError<Code extends ErrorCode>(
  code: Code,
  message: string,
  ...[details, options]: DetailsArgument<Code>
): ServerError {
  const { name, fault } = errorTable[code];
  const make = () => new ServerError(code, name, message, details, options);
  return fault === 'client' ? withoutStack(make) : make();
}

/**
 * Makes an error without a stack: nobody reads the stack of a client's mistake, and it takes a sixth of
 * the time of a refusal.
 */
function withoutStack(make: () => ServerError): ServerError {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Refuses a request. */
export function fail<Code extends ErrorCode>(
  code: Code,
  message: string,
  ...details: DetailsArgument<Code>
): never {
  throw serverError(code, message, ...details);
}
