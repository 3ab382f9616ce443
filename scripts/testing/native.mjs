import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findProgram, run } from '../tool/command.mjs';
import { build, configure, plainConfigure, requireToolchain } from '../tool/native-tree.mjs';
import { phase } from '../tool/phase.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { withTreeLock } from '../tool/tree-lock.mjs';

/** Our own C++ without Node and llama.cpp, once under AddressSanitizer with UBSan and, what has threads, under TSan. */
export const nativeTests = (filters) => [
  {
    name: 'native tests, address and undefined-behaviour sanitizers',
    run: () => sanitized('address', [], filters),
  },
  {
    name: 'native tests of threads, thread sanitizer',
    run: () => sanitized('thread', ['-L', 'concurrent'], filters),
  },
];

/** `label` are ctest's arguments for a kind of tests; of these run those whose name contains a filter, or all. */
async function sanitized(sanitizer, label, filters) {
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
    await phase('compile', async () => {
      await configure(tree, plainConfigure(tree, options));
      const known = await testNames(tree, []);
      names = selectNames(label.length === 0 ? known : await testNames(tree, label), filters, known);
      const everything = label.length === 0 && filters.length === 0;
      if (!everything && names.length === 0) return 'nothing to do';
      return `${await build(tree, everything ? [] : programsOf(names, known))} files`;
    });
    if (names.length === 0) return { leftOut: 'none of these tests is one of threads' };
    const selection = filters.length === 0 ? label : ['-R', `^(${names.join('|')})$`];
    return runCtest(tree, selection, sanitizer);
  });
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

async function runCtest(tree, selection, sanitizer) {
  const command = [
    'ctest',
    '--test-dir',
    tree,
    '--output-on-failure',
    '--no-tests=error',
    '--timeout',
    '900',
  ];
  const launcher = sanitizer === 'thread' ? await withoutAddressRandomisation() : [];
  const [program, ...args] = [...launcher, ...command, '-j', String(availableParallelism()), ...selection];
  const env = {
    ASAN_OPTIONS: 'detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1',
    UBSAN_OPTIONS: 'print_stacktrace=1',
    TSAN_OPTIONS: 'halt_on_error=1:second_deadlock_stack=1',
  };
  const { output, code } = await run(program, args, { cwd: root, env, allowFailure: true });
  const summary = /(\d+)% tests passed, (\d+) tests? failed out of (\d+)/.exec(output);
  if (!summary) throw new Stop(`ctest ended with ${code} and no summary`);
  const failed = Number(summary[2]);
  return { passed: Number(summary[3]) - failed, failed, failures: failedNames(output) };
}

/** ctest ends with a list of lines such as `\t 43 - lm_cache (Failed)`. */
const failedNames = (output) => [...output.matchAll(/^\s+\d+ - (\S+ \(.*\))/gm)].map((match) => match[1]);

/** ThreadSanitizer of GCC 12 does not start where the kernel randomises more address bits than it knows. */
async function withoutAddressRandomisation() {
  if (!findProgram('setarch')) return [];
  const probe = await run('setarch', ['-R', 'true'], { quiet: true, allowFailure: true });
  return probe.code === 0 ? ['setarch', '-R'] : [];
}
