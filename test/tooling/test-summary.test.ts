import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const { outsideError, summarize } = await import(
  new URL('../../scripts/testing/vitest.mjs', import.meta.url).href
);
const root = fileURLToPath(new URL('../..', import.meta.url));

const passed = { status: 'passed', fullName: 'a b', failureMessages: [] };
const failed = { status: 'failed', fullName: 'a c', failureMessages: ['Error: no\n    at x.ts:1'] };
const counts = { numPassedTests: 1, numPendingTests: 2, numTodoTests: 1 };
const file = (status: string, assertionResults: unknown[], message = '') => ({
  ...{ name: join(root, 'test', 'x.test.ts'), status, assertionResults, message },
});

describe('the summary of a run of vitest', () => {
  test('names each failed test with its file and the first line of its message', () => {
    expect(summarize({ ...counts, testResults: [file('failed', [passed, failed])] }, 1)).toEqual({
      passed: 1,
      skipped: 3,
      failures: [{ file: join('test', 'x.test.ts'), test: 'a c', message: 'Error: no' }],
      outside: false,
    });
  });

  test('counts a file that does not load as a failure', () => {
    const { failures } = summarize({ ...counts, testResults: [file('failed', [], 'no module\nx')] }, 1);
    expect(failures).toEqual([{ file: join('test', 'x.test.ts'), message: 'no module' }]);
  });

  test('counts a file that fails beside its tests as a failure', () => {
    const { failures } = summarize({ ...counts, testResults: [file('failed', [passed], 'not empty\nx')] }, 1);
    expect(failures).toEqual([{ file: join('test', 'x.test.ts'), message: 'not empty' }]);
  });

  test('tells a run that failed though no test did', () => {
    const report = { ...counts, testResults: [file('passed', [passed])] };
    expect(summarize(report, 1)).toMatchObject({ failures: [], outside: true });
    expect(summarize(report, 0)).toMatchObject({ failures: [], outside: false });
  });
});

test('an error outside any test is shown, not only told', () => {
  const output = 'much\n\u001b[31mUnhandled Errors\u001b[39m\n\nError: worker exited\n  at pool.ts:1\n';
  expect(outsideError(output)).toBe('Unhandled Errors\n    Error: worker exited\n      at pool.ts:1');
  expect(outsideError('a\n\nthe end\n')).toBe('a\n    the end');
});
