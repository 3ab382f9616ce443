import { expect, it } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { loadFailure } from '../../src/models/open-model.js';
import { toServerError } from '../../src/storages/failure.js';

it('an error about a file that memory has no room to map shows no path of this machine', () => {
  const failed = LorekeepError.about('OUT_OF_MEMORY', { file: '/srv/models/m.gguf', reason: 'cannot map' });
  for (const [error, told] of [
    [failed, 'm.gguf: cannot map'],
    [loadFailure('/srv/models.json', 'm', failed), 'model "m": cannot be loaded (OUT_OF_MEMORY)'],
  ] as const) {
    const { code, message, details } = toServerError(error);
    expect(code).toBe(5003);
    expect(message).toContain(told);
    expect(JSON.stringify([message, details])).not.toContain('/srv');
  }
});
