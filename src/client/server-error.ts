import type { ErrorDetailsByCode } from '../protocol/error-details.js';
import { ServerError as AnyServerError, type ErrorCode, type errorTable } from '../protocol/errors.js';

/** The error of a refused request. Comparing `code` narrows `details`. A newer server may send other codes. */
export type ServerError = {
  [Code in ErrorCode]: Error & {
    /** Error code: docs/reference/errors.md. */
    readonly code: Code;
    /** The code's name. */
    readonly name: (typeof errorTable)[Code]['name'];
    /** The facts of the message, for programs. */
    readonly details: ErrorDetailsByCode[Code];
    /** How to mend it; empty for a code of a newer server. */
    readonly remedy: string;
  };
}[ErrorCode];

interface ServerErrorClass {
  new (...args: ConstructorParameters<typeof AnyServerError>): AnyServerError;
  readonly prototype: ServerError;
}

/** The class of the errors that a server refuses requests with: `error instanceof ServerError`. */
export const ServerError: ServerErrorClass = AnyServerError as unknown as ServerErrorClass;
