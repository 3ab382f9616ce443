import { expect, test } from 'vitest';

const { nativeFailures, programsOf, selectNames } = await import(
  new URL('../../scripts/testing/native.mjs', import.meta.url).href
);
const known = ['text_index', 'text_concurrent', 'vector_index', 'vector_index_scalar', 'core_threads'];

test('native tests are selected by a part of their names', () => {
  expect(selectNames(known, [], known)).toEqual(known);
  expect(selectNames(known, ['text', 'threads'], known)).toEqual([
    'text_index',
    'text_concurrent',
    'core_threads',
  ]);
  const concurrent = ['text_concurrent', 'core_threads'];
  expect(selectNames(concurrent, ['text_index'], known)).toEqual([]);
});

test('an unknown name of a native test is answered with the known ones', () => {
  expect(() => selectNames(known, ['text', 'strage'], known)).toThrow(
    'no native test has "strage" in its name; there are text_index, text_concurrent,',
  );
});

test('what is not run is not compiled', () => {
  expect(programsOf(['text_index', 'vector_index_scalar', 'vector_index'], known)).toEqual([
    'text_index_test',
    'vector_index_test',
  ]);
});

test('a failed native test is named with the checks that failed', () => {
  const output = `Start 51: lm_text
    test/native/lm/mask_test.cc:12: a == b
  FAILED masks agree (LOREKEEP_TEST_SEED=7)
98% tests passed, 1 tests failed out of 52
The following tests FAILED:
\t 51 - lm_text (Failed)
`;
  expect(nativeFailures(output)).toEqual([
    'lm_text (Failed)',
    '  test/native/lm/mask_test.cc:12: a == b',
    '  FAILED masks agree (LOREKEEP_TEST_SEED=7)',
  ]);
});
