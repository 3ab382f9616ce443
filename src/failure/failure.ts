import { AbortError, LorekeepError } from '../../lib/index.js';
import { ServerError, serverError } from '../protocol/errors.js';

/**
 * What a client is told about something that was thrown. An abort is told as its reason: whoever aborts gives a
 * ServerError. Defects show neither stack nor message.
 */
export function toServerError(thrown: unknown): ServerError {
  if (thrown instanceof ServerError) return thrown;
  if (thrown instanceof AbortError && thrown.cause instanceof ServerError) return thrown.cause;
  if (thrown instanceof LorekeepError) {
    const { code, message, detail } = thrown;
    if (code === 'OUT_OF_MEMORY') return serverError(5003, message, detail, { cause: thrown });
  }
  return serverError(1009, 'the server failed to do this; its log says why', {}, { cause: thrown });
}

/** Whether it is lorekeep's own defect, which the log should show in full. */
export function isDefect(error: ServerError): boolean {
  return error.code === 1009;
}
