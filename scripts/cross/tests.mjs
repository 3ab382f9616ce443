// The tests of a target: our C++, and vitest on its real Node.js.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { programsOf, selectNames } from '../testing/native.mjs';
import { summarize, vitestProgram } from '../testing/vitest.mjs';
import { run } from '../tool/command.mjs';
import { build } from '../tool/native-tree.mjs';
import { formatTime, phase } from '../tool/phase.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { withTreeLock } from '../tool/tree-lock.mjs';
import { compileTypeScript } from '../tool/typescript.mjs';
import { vendor } from '../vendor/vendor.mjs';
import { emulators } from './emulators.mjs';
import { sortFailures, sortNativeFailures } from './limits.mjs';
import { fetchPlatformPackages } from './packages.mjs';
import { configureTarget, treeOf } from './tree.mjs';
import { fetchWheel } from './wheel.mjs';

/** Seconds for one C++ test. */
const nativeLimit = '1800';
/** Minutes for one folder of vitest's tests. */
const folderLimit = 60;

/** Compiles the C++ tests whose name contains a filter, or all, and runs them. */
export async function runNativeTests(target, filters) {
  const tree = treeOf(target);
  const { forTests, start } = emulators[target.emulator];
  const { env } = forTests === undefined ? await start() : {};
  await withTreeLock(tree, async () => {
    await phase('vendor', () => vendor());
    await phase('configure', () => configureTarget(target));
    const known = await nativeTestNames(tree);
    const names = selectNames(known, filters, known);
    await phase('compile', async (report) => `${await build(tree, programsOf(names, known), report)} files`);
    const options = ['--output-on-failure', '--no-tests=error', '--timeout', nativeLimit];
    const jobs = process.env.LOREKEEP_JOBS ?? String(availableParallelism());
    const only = ['-R', `^(${names.join('|')})$`];
    const args = ['--test-dir', tree, ...options, '-j', jobs, ...only];
    const { code, output } = await run('ctest', args, { cwd: root, env, allowFailure: true });
    const failed = [...output.matchAll(/^\s+\d+ - (\S+) \(.*\)/gm)].map((match) => match[1]);
    const { known: limited, others } = sortNativeFailures(target, failed);
    if (others.length > 0 || (code !== 0 && failed.length === 0))
      throw new Stop(`ctest ended with ${code}; these C++ tests fail: ${others.join(', ')}`);
    if (limited.length > 0) process.stdout.write(`known (scripts/cross/limits.mjs): ${limited.join(', ')}\n`);
  });
}

async function nativeTestNames(tree) {
  const args = ['--test-dir', tree, '--show-only=json-v1'];
  const { output } = await run('ctest', args, { cwd: root, quiet: true });
  return JSON.parse(output.slice(output.indexOf('{'))).tests.map((test) => test.name);
}

/** Folders of test/ that check this repository or its packages, not the product. */
const ofTheProject = ['helpers', 'native', 'package', 'tooling', 'types'];

/**
 * Runs vitest's tests of the folders or files `names`, or of the target's folders, one folder after the other, and prints a line
 * for each. Throws if a test fails that is not one of the target's known limits.
 */
export async function runTypeScriptTests(target, names) {
  let program = '';
  let packages = '';
  let emulator;
  await phase('node', async () => {
    program = await fetchWheel(target.node);
    packages = await fetchPlatformPackages(target);
    emulator = await emulators[target.emulator].start(program);
    return `${target.node.package} ${target.node.version} for ${target.node.platform}`;
  });
  await phase('typescript', () => compileTypeScript());
  const env = { NODE_PATH: packages, PREBUILDS_ONLY: '1', LOREKEEP_TEST_COMPILED: '1' };
  const folders = names.length > 0 ? names : (target.folders ?? testFolders());
  const total = { passed: 0, skipped: 0, failures: [] };
  for (const name of folders) {
    const begin = performance.now();
    const { passed, skipped, known, failures } = await runFolder(target, name, emulator, env);
    total.passed += passed;
    total.skipped += skipped;
    total.failures.push(...failures);
    const counts = `${passed} passed, ${failures.length} failed, ${known.length} known, ${skipped} skipped`;
    process.stdout.write(
      `${name.padEnd(14)} ${formatTime(performance.now() - begin).padStart(11)}  ${counts}\n`,
    );
    for (const failure of failures) process.stdout.write(`    ${failure}\n`);
  }
  process.stdout.write(`${total.passed} passed, ${total.failures.length} failed, ${total.skipped} skipped\n`);
  if (total.failures.length > 0) throw new Stop(`${total.failures.length} tests fail on ${target.tag}`);
}

const testFolders = () =>
  readdirSync(join(root, 'test'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !ofTheProject.includes(entry.name))
    .map((entry) => entry.name)
    .sort();

async function runFolder(target, name, { command, env: emulation, end }, env) {
  const folder = join(root, '.cache', 'cross', target.name);
  const part = name.replaceAll('/', '-');
  const report = join(folder, `${part}.json`);
  mkdirSync(folder, { recursive: true });
  rmSync(report, { force: true });
  const paths = name.includes('/') ? name : `test/${name}/`;
  const options = ['run', paths, '--reporter=default', '--reporter=json', `--outputFile=${report}`];
  const args = [...command.slice(1), vitestProgram(), ...options];
  const log = join(folder, `${part}.log`);
  const { code, isLate } = await runInto(log, command[0], args, { ...emulation, ...env });
  if (isLate) await end();
  if (!existsSync(report)) {
    const why = isLate ? `did not end within ${folderLimit} minutes` : `ended with ${code} and no report`;
    return { passed: 0, skipped: 0, known: [], failures: [`${name}: ${why}; see ${log}`] };
  }
  const { passed, skipped, failures, outside } = summarize(
    nativePaths(JSON.parse(readFileSync(report, 'utf8'))),
    code,
  );
  const sorted = sortFailures(target, failures);
  if (outside) sorted.failures.push(`${name}: an error outside any test; see ${log}`);
  return { passed, skipped, ...sorted };
}

/** Output goes into a file: a program of Windows ends before it has written all to a pipe of Linux. */
function runInto(log, program, args, env) {
  const file = openSync(log, 'w');
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  let isLate = false;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, folderLimit * 60_000);
    child.on('error', reject);
    child.on('exit', (code) => {
      clearTimeout(timer);
      resolve({ code, isLate });
    });
  });
}

/** A report in which files have their paths of this machine. */
const nativePaths = (report) => ({
  ...report,
  testResults: report.testResults.map((result) => ({
    ...result,
    name: result.name.replace(/^[A-Z]:/i, '').replaceAll('\\', '/'),
  })),
});
