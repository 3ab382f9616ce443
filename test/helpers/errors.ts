import { expect } from 'vitest';
import type { ErrorCode, LorekeepError } from '../../lib/index.js';
import { ServerError } from '../../src/protocol/errors.js';

/** Expects a rejection with this code and returns the error for closer looks. */
export async function rejection<Code extends ErrorCode>(
  promise: Promise<unknown>,
  code: Code,
): Promise<Extract<LorekeepError, { code: Code }>> {
  const error = await promise.then(
    () => expect.fail(`expected a rejection with ${code}, but the promise was fulfilled`),
    (reason: Extract<LorekeepError, { code: Code }>) => reason,
  );
  expect(error, String(error)).toMatchObject({ code });
  return error;
}

/** What a server, or its client, refused a request with. */
export async function refusal(request: Promise<unknown>): Promise<ServerError> {
  const error = await request.then(
    (reply) => expect.fail(`answered with ${JSON.stringify(reply)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof ServerError) return error;
  throw error;
}

/** The same of a call that throws. */
export function refused(action: () => unknown): ServerError {
  try {
    action();
  } catch (error) {
    if (error instanceof ServerError) return error;
    throw error;
  }
  return expect.fail('nothing was refused');
}
