import { AbortError } from '../../lib/index.js';
import { isOutOfDescriptors } from '../knowledge/out-of-descriptors.js';
import { ServerError, serverError } from '../protocol/errors.js';
import { libraryError } from './wire-errors.js';

export { isOutOfDescriptors };

/**
 * What a client is told about something that was thrown. An abort is told as its reason: whoever aborts gives a
 * ServerError. Defects show neither stack nor message.
 */
export function toServerError(thrown: unknown): ServerError {
  if (thrown instanceof ServerError) return thrown;
  if (thrown instanceof AbortError && thrown.cause instanceof ServerError) return thrown.cause;
  if (isOutOfDescriptors(thrown)) return outOfDescriptors({ cause: thrown });
  const known = libraryError(thrown);
  if (known !== undefined) return known;
  return serverError(1009, 'the server failed to do this; its log says why', {}, { cause: thrown });
}

/** The process has as many files and connections open as it may have. */
export function outOfDescriptors(options?: ErrorOptions): ServerError {
  const message =
    'the server has as many files and connections open as it may have (EMFILE); try again later';
  return serverError(6005, message, {}, options);
}

/** An error as frames carry it. */
export function errorFields({ code, name, message, details }: ServerError) {
  return { code, name, message, details };
}

/** Whether it is lorekeep's own defect, which the log should show in full. */
export function isDefect(error: ServerError): boolean {
  return error.code === 1009;
}
