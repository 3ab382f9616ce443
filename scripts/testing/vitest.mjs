import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { isSlow, testFiles, testsWithLongForm } from './import-graph.mjs';

/** Not run by `npm test`. */
const elsewhere = ['test/package/**', 'bench/test/**'];

/** Everything else, or the files that a change reaches. A name reaches slow files, too. */
export const typeScriptTests = {
  name: 'TypeScript tests',
  run: ({ filters, reach }) => {
    if (reach === undefined) {
      const excluded = filters.length > 0 ? elsewhere : [...elsewhere, 'test/**/*.slow.test.ts'];
      return vitest('ts', [...filters, ...excluded.flatMap((pattern) => ['--exclude', pattern])]);
    }
    return reachedTests('ts', reach, (file) => !file.startsWith('test/package/') && !isSlow(file));
  },
};

/** Files that take too long for daily work. */
export const slowTests = {
  name: 'slow TypeScript tests',
  run: ({ reach }) =>
    reach === undefined
      ? vitest('slow', testFiles(root).filter(isSlow))
      : reachedTests('slow', reach, isSlow),
};

/** Runs those of some files that a change reaches. */
function reachedTests(name, reach, isOurs) {
  const { all, reached } = reach.testFiles();
  const files = reached.filter(isOurs);
  const leftOut = all.filter(isOurs).filter((file) => !files.includes(file));
  if (leftOut.length > 0)
    process.stdout.write(`not reached, left out: ${leftOut.length} files:\n  ${leftOut.join('\n  ')}\n`);
  return files.length === 0 ? { leftOut: 'no file is reached' } : vitest(name, files);
}

/** Tests that repeat what takes long and seldom fails, as often as they can afford outside daily work. */
export const longForms = {
  name: 'long forms of tests',
  run: ({ reach }) => {
    const reached = reach?.testFiles().reached;
    const files = testsWithLongForm(root).filter((file) => reached === undefined || reached.includes(file));
    if (files.length === 0) return { leftOut: 'no file is reached' };
    return vitest('long', files, { LOREKEEP_TEST_LONG: '1' });
  },
};

/** What the benchmarks and the campaign compute, and what only they can provoke. */
export const benchTests = { name: 'tests of the benchmarks', run: () => vitest('bench', ['bench/test/']) };

/** Runs files of vitest, named by parts of their paths, and counts their tests. */
export async function vitest(name, args, env = {}) {
  const report = join(root, '.cache', `vitest-${name}.json`);
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const options = ['run', ...args, '--reporter=default', '--reporter=json', `--outputFile=${report}`];
  const { code, output } = await run(process.execPath, [vitestProgram(), ...options], {
    cwd: root,
    env,
    allowFailure: true,
  });
  const { passed, skipped, failures, outside } = summarize(JSON.parse(readFileSync(report, 'utf8')), code);
  const names = failures.map(described);
  if (outside) names.push(`an error outside any test: ${outsideError(output)}`);
  return { passed, skipped, failed: names.length, failures: names };
}

/** What vitest says of an error that belongs to no test, in a few lines; else the last lines of the run. */
export function outsideError(output) {
  const lines = stripVTControlCharacters(output).trimEnd().split('\n');
  const first = lines.findIndex((line) => /Unhandled (Error|Rejection)|^Error: |Startup Error/.test(line));
  const said = first >= 0 ? lines.slice(first, first + 30) : lines.slice(-30);
  return said
    .filter((line) => line.trim() !== '')
    .map((line) => line.slice(0, 300))
    .join('\n    ');
}

const described = ({ file, test, message }) => `${file}${test ? ` > ${test}` : ''}: ${message}`;

export function vitestProgram() {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('vitest/package.json');
  return join(dirname(manifest), 'vitest.mjs');
}

/**
 * The contents of a report of vitest: {passed, skipped, failures: {file, test, message}[], outside}. A file that does not load, or
 * that fails beside its tests, such as in `afterAll`, is one failure. `outside`: the run failed though no test and no file did.
 */
export function summarize(report, code) {
  const failures = [];
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(root, name);
    for (const test of assertionResults) {
      if (test.status !== 'failed') continue;
      failures.push({ file, test: test.fullName, message: firstLine(test.failureMessages[0]) });
    }
    if (status === 'failed' && assertionResults.every((test) => test.status !== 'failed')) {
      failures.push({ file, message: firstLine(message) });
    }
  }
  return {
    passed: report.numPassedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
    outside: code !== 0 && failures.length === 0,
  };
}

const firstLine = (text) => (text ?? '').split('\n', 1)[0].slice(0, 300);
