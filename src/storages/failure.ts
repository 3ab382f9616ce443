import { AbortError } from '../../lib/internal.js';
import { isOutOfDescriptors } from '../knowledge/out-of-descriptors.js';
import type { Log } from '../log/log.js';
import { ServerError, serverError } from '../protocol/errors.js';
import { libraryError } from './wire-errors.js';

export { isOutOfDescriptors };

/**
 * Converts a thrown value to the error for the client. An abort becomes its reason, which is always a ServerError. Defects
 * show neither stack nor message.
 */
export function toServerError(thrown: unknown): ServerError {
  if (thrown instanceof ServerError) return thrown;
  if (thrown instanceof AbortError && thrown.cause instanceof ServerError) return thrown.cause;
  if (isOutOfDescriptors(thrown)) return outOfDescriptors({ cause: thrown });
  const known = libraryError(thrown);
  if (known !== undefined) return known;
  return serverError(1009, 'the server failed to do this; its log says why', {}, { cause: thrown });
}

/** Returns the error for a process without free file descriptors. */
export function outOfDescriptors(options?: ErrorOptions): ServerError {
  const message =
    'the server has as many files and connections open as it may have (EMFILE); try again later';
  return serverError(6005, message, {}, options);
}

/** Returns the fields of an error in a frame. */
export function errorFields({ code, name, message, details }: ServerError) {
  return { code, name, message, details };
}

/** Returns the frame of an error, without the id of the request. */
export function errorFrame(error: ServerError) {
  return { type: 'Error' as const, ...errorFields(error) };
}

/** Returns whether the error is a defect of lorekeep, which the log shows in full. */
export function isDefect(error: ServerError): boolean {
  return error.code === 1009;
}

/** Converts what a request has thrown, and logs it: a defect in full, any other error as its code. `facts`: of the request. */
export function refusalOf(thrown: unknown, log: Log, facts: object = {}): ServerError {
  const error = toServerError(thrown);
  if (isDefect(error)) log.error({ err: thrown, ...facts }, 'request failed');
  else log.debug({ ...facts, code: error.code }, 'request refused');
  return error;
}
