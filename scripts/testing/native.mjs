import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { findProgram, run } from '../tool/command.mjs';
import { addonConfigure, build, configure, plainConfigure, requireToolchain } from '../tool/native-tree.mjs';
import { phase } from '../tool/phase.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { withTreeLock } from '../tool/tree-lock.mjs';
import { filesOfTarget, readTargets, requestTargets } from './native-graph.mjs';

/**
 * Our own C++ without Node and llama.cpp, under AddressSanitizer with UBSan, but for slow tests that no filter names. `reach`: tests that
 * it does not reach are left out.
 */
export const nativeTests = {
  name: 'native tests, address and undefined-behaviour sanitizers',
  run: ({ filters, reach }) =>
    sanitized('address', filters.length > 0 ? [] : ['-LE', 'slow'], filters, reach),
};

/** The tests of threads once more, under ThreadSanitizer. */
export const threadTests = {
  name: 'native tests of threads, thread sanitizer',
  run: ({ filters, reach }) => sanitized('thread', ['-L', 'concurrent'], filters, reach),
};

/** Tests that take long, and tests that repeat what seldom fails, as often as they can afford outside daily work. */
export const longNativeTests = {
  name: 'slow native tests and long forms',
  run: ({ reach }) => sanitized('address', ['-L', 'long|slow'], [], reach, { LOREKEEP_TEST_LONG: '1' }),
};

/** `label` are ctest's arguments for a kind of tests; of these run those whose name contains a filter, or all. */
async function sanitized(sanitizer, label, filters, reach, env = {}) {
  requireToolchain();
  const tree = join(root, '.cmake', sanitizer === 'address' ? 'asan' : 'tsan');
  const options = {
    CMAKE_BUILD_TYPE: 'Debug',
    CMAKE_CXX_FLAGS_DEBUG: '-O1', // with asserts; at -O0 the sanitized tests take minutes
    LOREKEEP_ADDON: 'OFF',
    LOREKEEP_TESTS: 'ON',
    LOREKEEP_SANITIZE: sanitizer,
  };
  return withTreeLock(tree, async () => {
    let names = [];
    let leftOut = [];
    await phase('compile', async () => {
      requestTargets(tree);
      await configure(tree, plainConfigure(tree, options));
      const known = await testNames(tree, []);
      const chosen = selectNames(label.length === 0 ? known : await testNames(tree, label), filters, known);
      names = reachedTests(tree, chosen, known, reach);
      leftOut = chosen.filter((name) => !names.includes(name));
      const everything = label.length === 0 && names.length === known.length;
      if (!everything && names.length === 0) return 'nothing to do';
      return `${await build(tree, everything ? [] : programsOf(names, known))} files`;
    });
    if (leftOut.length > 0)
      process.stdout.write(`not reached, left out: ${leftOut.length} tests: ${leftOut.join(', ')}\n`);
    if (names.length === 0)
      return { leftOut: leftOut.length > 0 ? 'no test is reached' : 'none of these tests is one of threads' };
    const all = filters.length === 0 && leftOut.length === 0;
    return runCtest(tree, all ? label : ['-R', `^(${names.join('|')})$`], sanitizer, env);
  });
}

/** Of `names`, tests whose program is made of a changed file. */
function reachedTests(tree, names, known, reach) {
  if (reach === undefined) return names;
  const targets = readTargets(tree, root);
  return names.filter((name) =>
    programsOf([name], known).some((program) => reach.reaches(filesOfTarget(targets, program, root))),
  );
}

/** The names of the tests with a label, or of all. */
async function testNames(tree, label) {
  const args = ['--test-dir', tree, '--show-only=json-v1', ...label];
  const { output } = await run('ctest', args, { cwd: root, quiet: true });
  const { tests } = JSON.parse(output.slice(output.indexOf('{')));
  if (tests.length === 0) throw new Stop(`${tree} has no tests ${label.join(' ')}`);
  return tests.map((test) => test.name);
}

/** Returns the `names` that contain a filter, or all names without one. Each filter must be part of one of `known`. */
export function selectNames(names, filters, known) {
  const unknown = filters.find((filter) => !known.some((name) => name.includes(filter)));
  if (unknown !== undefined) {
    throw new Stop(
      `no native test has ${JSON.stringify(unknown)} in its name; there are ${known.join(', ')}`,
    );
  }
  return filters.length === 0
    ? names
    : names.filter((name) => filters.some((filter) => name.includes(filter)));
}

/**
 * The targets of tests: what is not run need not be compiled. `lorekeep_test(NAME ...)` of test/native makes the test NAME
 * and the target NAME_test; a test NAME_VARIANT runs the program of NAME once more. (ctest does not know the programs
 * before they are built.)
 */
export function programsOf(names, known) {
  const programs = names.map((name) => known.find((other) => name.startsWith(`${other}_`)) ?? name);
  return [...new Set(programs)].map((name) => `${name}_test`);
}

/** Seconds after which a test counts as hanging. Long forms repeat ten times as much. */
const hangsAfter = (wanted) => (wanted?.LOREKEEP_TEST_LONG === undefined ? '900' : '2700');

async function runCtest(tree, selection, sanitizer, wanted) {
  const command = [
    'ctest',
    '--test-dir',
    tree,
    '--output-on-failure',
    '--no-tests=error',
    '--timeout',
    hangsAfter(wanted),
  ];
  const launcher = sanitizer === 'thread' ? await withoutAddressRandomisation() : [];
  const [program, ...args] = [...launcher, ...command, '-j', String(availableParallelism()), ...selection];
  const env = {
    ...wanted,
    ASAN_OPTIONS: 'detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1',
    UBSAN_OPTIONS: 'print_stacktrace=1',
    TSAN_OPTIONS: 'halt_on_error=1:second_deadlock_stack=1',
  };
  const { output, code } = await run(program, args, { cwd: root, env, allowFailure: true });
  const summary = /(\d+)% tests passed, (\d+) tests? failed out of (\d+)/.exec(output);
  if (!summary) throw new Stop(`ctest ended with ${code} and no summary`);
  const failed = Number(summary[2]);
  return { passed: Number(summary[3]) - failed, failed, failures: nativeFailures(output) };
}

/**
 * A line for each failed test. ctest ends with a list of lines such as `\t 43 - lm_cache (Failed)`; before it stands what each
 * of them printed, of which the checks that failed and the findings of a sanitizer are repeated.
 */
export function nativeFailures(output) {
  const reasons = output.split('\n').filter((line) => failedCheck.test(line));
  const names = [...output.matchAll(/^\s+\d+ - (\S+ \(.*\))/gm)].map((match) => match[1]);
  return [...names, ...reasons.slice(0, 40).map((line) => `  ${line.trim().slice(0, 300)}`)];
}

/** `    file.cc:12: what`, `    name of the test:0: what`, `  FAILED name of the test (...)`, first lines of sanitizers' reports. */
const failedCheck = /^ {4}\S.*:\d+: |^\s+FAILED |ERROR: \w+Sanitizer|runtime error: |^SUMMARY: /;

/** ThreadSanitizer of GCC 12 does not start where the kernel randomises more address bits than it knows. */
async function withoutAddressRandomisation() {
  if (!findProgram('setarch')) return [];
  const probe = await run('setarch', ['-R', 'true'], { quiet: true, allowFailure: true });
  return probe.code === 0 ? ['setarch', '-R'] : [];
}

/**
 * Compiles each of our files in native/ without the others of its batch, to syntax alone: a file that lacks an include
 * compiles in a batch as long as a file before it has the include.
 */
export const everyFileByItself = {
  name: 'every C++ file by itself',
  run: async ({ reach }) => {
    if (process.platform === 'win32') return { leftOut: 'not with the compiler of Windows' };
    if (reach !== undefined && !reach.reachesFolder('native')) return { leftOut: 'no file is reached' };
    const tree = join(root, '.cmake', 'alone');
    return withTreeLock(tree, async () => {
      await configure(tree, await addonConfigure(tree, { LOREKEEP_BATCHES: 'OFF' }));
      const all = JSON.parse(readFileSync(join(tree, 'compile_commands.json'), 'utf8'));
      const isOurs = ({ file }) => /^native\/(?!vendor\/).*\.cc$/.test(relative(root, file));
      const failures = await syntaxErrors(all.filter(isOurs));
      return { passed: all.filter(isOurs).length - failures.length, failed: failures.length, failures };
    });
  },
};

/** Returns a line for each file that does not compile. */
async function syntaxErrors(commands) {
  const failures = [];
  const next = commands.values();
  const worker = async () => {
    for (const { file, directory, command } of next) {
      const line = command.replace(/^\S*ccache /, '').replace(/ -o \S+ -c /, ' -fsyntax-only ');
      const [program, ...args] = line.split(' ').filter(Boolean);
      const { code, output } = await run(program, args, { cwd: directory, quiet: true, allowFailure: true });
      if (code !== 0) failures.push(`${relative(root, file)}: ${/error: .*/.exec(output)?.[0] ?? output}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return failures;
}
