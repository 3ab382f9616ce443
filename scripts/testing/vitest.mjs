import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';

/** Everything but test/package. */
export const typeScriptTests = (filters) => vitest('ts', [...filters, '--exclude', 'test/package/**']);

/** Makes the prebuild and tests what is shipped. */
export const packageTests = (filters) => [
  {
    name: 'prebuild',
    run: async () => {
      await run(process.execPath, [join(root, 'scripts', 'prebuild.mjs')], { cwd: root });
      return { passed: 1 };
    },
  },
  { name: 'package tests', run: () => vitest('package', packageFilters(filters)) },
];

/** vitest runs the files whose path contains a filter. */
const packageFilters = (filters) =>
  filters.length > 0 ? filters.map((name) => `test/package/${name}`) : ['test/package/'];

async function vitest(name, args) {
  const report = join(root, '.cache', `vitest-${name}.json`);
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const options = ['run', ...args, '--reporter=default', '--reporter=json', `--outputFile=${report}`];
  const { code } = await run(process.execPath, [vitestProgram(), ...options], {
    cwd: root,
    allowFailure: true,
  });
  const { passed, skipped, failures, outside } = summarize(JSON.parse(readFileSync(report, 'utf8')), code);
  const names = [...failures.map(described), ...(outside ? ['an error outside any test'] : [])];
  return { passed, skipped, failed: names.length, failures: names };
}

const described = ({ file, test, message }) => `${file}${test ? ` > ${test}` : ''}: ${message}`;

export function vitestProgram() {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('vitest/package.json');
  return join(dirname(manifest), 'vitest.mjs');
}

/**
 * The contents of a report of vitest: {passed, skipped, failures: {file, test, message}[], outside}. A file that does not load has
 * no tests to count and is one failure. `outside`: the run failed though no test did.
 */
export function summarize(report, code) {
  const failures = [];
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(root, name);
    for (const test of assertionResults) {
      if (test.status !== 'failed') continue;
      failures.push({ file, test: test.fullName, message: firstLine(test.failureMessages[0]) });
    }
    if (status === 'failed' && assertionResults.length === 0) {
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
