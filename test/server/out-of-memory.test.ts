import { expect, it } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { toServerError } from '../../src/storages/failure.js';

it('an error about a file that memory has no room to map shows no path of this machine', () => {
  const cause = '/srv/models/m.gguf: cannot map: Cannot allocate memory';
  for (const error of [
    LorekeepError.about('OUT_OF_MEMORY', { file: '/srv/models/m.gguf', reason: 'cannot map' }),
    LorekeepError.about('OUT_OF_MEMORY', { file: '/srv/models.json', model: 'm', reason: cause }),
  ]) {
    const { code, message, details } = toServerError(error);
    expect(code).toBe(5003);
    expect(message).toContain('m.gguf: cannot map');
    expect(JSON.stringify([message, details])).not.toContain('/srv');
  }
});
