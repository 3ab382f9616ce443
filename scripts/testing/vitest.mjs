import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
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
  return count(JSON.parse(readFileSync(report, 'utf8')), code);
}

export function vitestProgram() {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('vitest/package.json');
  return join(dirname(manifest), 'vitest.mjs');
}

/** A file that does not load has no tests to count, and an error outside any test fails the run all the same. */
function count(report, code) {
  const unloaded = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  const failed = report.numFailedTests + unloaded.length;
  return {
    passed: report.numPassedTests,
    failed: code !== 0 && failed === 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
