/**
 * What the types of `lorekeep` allow. The compiler checks this file with the tests: a line below @ts-expect-error that
 * compiles is an error, too. Nothing here runs.
 */
import { AbortError, type ErrorCode, LorekeepError } from '../../lib/index.js';

export function errors(error: unknown) {
  if (!(error instanceof LorekeepError)) return;
  const place: string | undefined = error.detail.field;
  if (error.code === 'TEXT_TOO_LONG') {
    const tokens: number = error.detail.tokens;
    // @ts-expect-error: an error of this code has no such detail
    return [tokens, error.detail.limit, error.detail.candidates];
  }
  if (error.code === 'UNSUPPORTED') return error.detail.candidates?.map(({ reason }) => reason.length);
  // @ts-expect-error: there is no such code
  if (error.code === 'TOO_LONG') return;
  // @ts-expect-error: what a detail is depends on the code
  return [place, error.detail.tokens];
}

export function aborted(error: unknown) {
  if (error instanceof AbortError) {
    const code: 'CANCELLED' = error.code;
    return code;
  }
  return error instanceof LorekeepError && error.code === 'CANCELLED' ? error.cause : undefined;
}

export function made(code: ErrorCode) {
  // @ts-expect-error: facts that this code demands are missing
  new LorekeepError('TEXT_TOO_LONG', 'the text is too long', { tokens: 7 });
  // @ts-expect-error: this code has no such fact
  new LorekeepError('CLOSED', 'the index is closed', { tokens: 7 });
  return LorekeepError.about(code, { file: 'kb.json', reason: 'the file is not there', tokens: 1, limit: 2 });
}
