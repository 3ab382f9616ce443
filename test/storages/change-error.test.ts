import { describe, expect, it } from 'vitest';
import { LorekeepError } from '../../lib/internal.js';
import { changeError } from '../../src/storages/change-error.js';

describe('the error of a change', () => {
  it('says that another process changes the knowledge base, without its path', () => {
    const error = new LorekeepError('IO', '/srv/kb.changes: process 12 changes it', { holder: 12 });
    expect(changeError(error)).toMatchObject({ code: 8013, details: { path: 'name' } });
    expect((changeError(error) as Error).message).not.toContain('/srv');
  });

  it('says that the change could not be written, without the path', () => {
    const error = new LorekeepError('IO', '/srv/kb.changes: no space left', {});
    expect(changeError(error)).toMatchObject({ code: 8014, details: { path: 'name' } });
    expect((changeError(error) as Error).message).not.toContain('/srv');
  });

  it('names the record and the field that break a rule', () => {
    const facts = { index: 1, field: 'metadata.n', expected: 'int', found: '"soon"', mistakes: 2 };
    const issues = ['replace[1] ("a"): metadata.n: expected int, found "soon"', 'and more'];
    const error = new LorekeepError('INVALID_ARGUMENT', issues.join('\n'), { ...facts, issues });
    expect(changeError(error)).toMatchObject({
      code: 8003,
      message: 'replace[1].metadata.n: int is expected, not "soon"; there are 2 mistakes',
      details: { path: 'replace[1].metadata.n' },
    });
  });

  it('passes on what is no error of the library', () => {
    const error = new Error('other');
    expect(changeError(error)).toBe(error);
  });
});
