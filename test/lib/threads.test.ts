import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { setSearchThreads, tokenize } from '../../lib/index.js';

const threads = () => readdirSync('/proc/self/task').length;

it.skipIf(process.platform !== 'linux')('the process has as many search threads as it was told to', () => {
  expect(tokenize('loads the addon', 'basic')).toHaveLength(3);
  setSearchThreads(1);
  const one = threads();
  setSearchThreads(9);
  expect(threads()).toBe(one + 8);
  setSearchThreads(3);
  expect(threads()).toBe(one + 2);
  expect(readFileSync('/proc/self/status', 'utf8')).toContain('Threads:');
});

it('a number of threads that makes no sense is refused', () => {
  for (const count of [0, -1, 1.5, 1025, Number.NaN, '4']) {
    expect(() => setSearchThreads(count as number), String(count)).toThrow(
      'an integer from 1 to 1024 is expected',
    );
  }
});
