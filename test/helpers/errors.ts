import { expect } from 'vitest';
import type { ErrorCode, LorekeepError } from '../../lib/index.js';

/** Expects a rejection with this code and returns the error for closer looks. */
export async function rejection(promise: Promise<unknown>, code: ErrorCode): Promise<LorekeepError> {
  const error = await promise.then(
    () => expect.fail(`expected a rejection with ${code}, but the promise was fulfilled`),
    (reason: LorekeepError) => reason,
  );
  expect(error, String(error)).toMatchObject({ code });
  return error;
}
