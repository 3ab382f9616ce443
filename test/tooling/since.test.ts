import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';

const scripts = (path: string) => import(new URL(`../../scripts/${path}`, import.meta.url).href);
const { changedFiles, Reach } = await scripts('testing/since.mjs');
const { filesOfTarget } = await scripts('testing/native-graph.mjs');
const { testsByAddon } = await scripts('testing/import-graph.mjs');

const folder = temporaryFolder();
let root: string;
let count = 0;

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

beforeEach(() => {
  root = folder(`checkout-${count++}`);
  write({
    'lib/boundary/binding.ts': 'export const binding = 1;\n',
    'lib/index.ts': "export { binding } from './boundary/binding.js';\n",
    'lib/errors.ts': 'export interface Failure {}\n',
    'src/text.ts': "import type { Failure } from '../lib/errors.js';\nexport const text = 1;\n",
    'src/search.ts': "import {\n  binding,\n} from '../lib/index.js';\nexport const found = binding;\n",
    'test/text.test.ts': "import { text } from '../src/text.js';\nimport './helpers/words.js';\n",
    'test/search.test.ts': "const { found } = await import('../src/search.js');\n",
    'test/program.test.ts': "import { execFileSync } from 'node:child_process';\n",
    'test/page.test.ts': "readFileSync(join(root, 'docs', 'errors.md'));\n",
    'test/helpers/words.ts': 'export const words = [];\n',
  });
});

const reached = (...changed: string[]): string[] => new Reach(changed, root).testFiles().reached;

describe('a change reaches', () => {
  test('the tests that import the file, directly or not, but not for its types alone', () => {
    expect(reached('test/helpers/words.ts')).toEqual(['test/text.test.ts']);
    expect(reached('lib/index.ts')).toEqual(['test/program.test.ts', 'test/search.test.ts']);
    expect(reached('lib/errors.ts')).toEqual(['test/program.test.ts']);
    expect(reached('test/page.test.ts')).toEqual(['test/page.test.ts']);
  });

  test('the tests that run programs, if it is in the product', () => {
    expect(reached('src/text.ts')).toEqual(['test/program.test.ts', 'test/text.test.ts']);
    expect(reached('data/models.json')).toEqual(['test/program.test.ts']);
  });

  test('the tests that load the addon, if it is in native/', () => {
    expect(reached('native/core/error.cc')).toEqual(['test/program.test.ts', 'test/search.test.ts']);
  });

  test('the tests that name the file or its folder', () => {
    expect(reached('docs/reference/errors.md')).toEqual(['test/page.test.ts']);
    expect(reached('docs/other.md')).toEqual(['test/page.test.ts']);
    expect(reached('site/index.md')).toEqual([]);
  });

  test('everything, if it decides how tests are built or run', () => {
    for (const file of [
      'package.json',
      'vitest.config.ts',
      'scripts/tool/setup.mjs',
      'native/cmake/Modules.cmake',
    ]) {
      expect(reached(file), file).toHaveLength(4);
      expect(new Reach([file], root).everythingBecauseOf).toBe(file);
      expect(new Reach([file], root).reaches(new Set())).toBe(true);
    }
    expect(new Reach(['src/text.ts'], root).everythingBecauseOf).toBeUndefined();
  });
});

test('a native test is made of its sources, of what it links, of what these include, and of their CMake files', () => {
  write({
    'native/core/a.cc': '#include "core/a.h"\n#include <vector>\n',
    'native/core/a.h': '#include "core/b.h"\n',
    'native/core/b.h': '',
    'native/text/t.cc': '',
    'test/native/harness.h': '',
    'test/native/core/a_test.cc': '#include "harness.h"\n',
  });
  const targets = new Map([
    ['a_test', { sources: ['test/native/core/a_test.cc'], needs: ['lorekeep_core'] }],
    ['lorekeep_core', { sources: ['native/core/a.cc'], needs: [] }],
    ['lorekeep_text', { sources: ['native/text/t.cc'], needs: ['lorekeep_core'] }],
  ]);
  expect([...filesOfTarget(targets, 'a_test', root)].sort()).toEqual([
    'native/core/CMakeLists.txt',
    'native/core/a.cc',
    'native/core/a.h',
    'native/core/b.h',
    'test/native/CMakeLists.txt',
    'test/native/core/CMakeLists.txt',
    'test/native/core/a_test.cc',
    'test/native/harness.h',
  ]);
});

test('changes are those since the common ancestor, with deleted and new files', () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.test', ...args], { cwd: root });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'one');
  git('checkout', '-qb', 'branch');
  write({ 'src/text.ts': 'export const text = 2;\n' });
  git('commit', '-qam', 'two');
  rmSync(join(root, 'lib/errors.ts'));
  write({ 'src/fresh file.ts': '' });
  expect(changedFiles('main', root)).toEqual(['lib/errors.ts', 'src/fresh file.ts', 'src/text.ts']);
  expect(() => changedFiles('nowhere', root)).toThrow(/^--since nowhere: fatal: /);
});

describe('the projects of vitest', () => {
  test('are told apart by whether a file loads the addon', () => {
    expect(testsByAddon(root)).toEqual({
      withAddon: ['test/search.test.ts'],
      withoutAddon: ['test/page.test.ts', 'test/program.test.ts', 'test/text.test.ts'],
    });
  });

  test('share the tests of this checkout', () => {
    const { withAddon, withoutAddon } = testsByAddon(join(import.meta.dirname, '..', '..'));
    expect(withoutAddon).toContain('test/tooling/since.test.ts');
    expect(withAddon.length).toBeGreaterThan(100);
    expect(withoutAddon.length).toBeGreaterThan(80);
  });
});
