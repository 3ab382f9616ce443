import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findProgram, run } from '../tool/command.mjs';
import { build, configure, plainConfigure, requireToolchain } from '../tool/native-tree.mjs';
import { phase } from '../tool/phase.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { withTreeLock } from '../tool/tree-lock.mjs';

/** Our own C++ without Node and llama.cpp, once under AddressSanitizer with UBSan and, what has threads, under TSan. */
export const nativeTests = [
  { name: 'native tests, address and undefined-behaviour sanitizers', run: () => sanitized('address', []) },
  { name: 'native tests of threads, thread sanitizer', run: () => sanitized('thread', ['-L', 'concurrent']) },
];

async function sanitized(sanitizer, selection) {
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
    await phase('compile', async () => {
      await configure(tree, plainConfigure(tree, options));
      return `${await build(tree, await testPrograms(tree, selection))} files`;
    });
    return runCtest(tree, selection, sanitizer);
  });
}

/**
 * The targets of the selected tests alone: under ThreadSanitizer that is a fraction of them. `lorekeep_test(NAME ...)` of
 * test/native makes the test NAME and the target NAME_test. (ctest does not know the programs before they are built.)
 */
async function testPrograms(tree, selection) {
  if (selection.length === 0) return [];
  const args = ['--test-dir', tree, '--show-only=json-v1', ...selection];
  const { output } = await run('ctest', args, { cwd: root, quiet: true });
  const { tests } = JSON.parse(output.slice(output.indexOf('{')));
  if (tests.length === 0) throw new Stop(`${tree} has no tests ${selection.join(' ')}`);
  return tests.map((test) => `${test.name}_test`);
}

async function runCtest(tree, selection, sanitizer) {
  const command = [
    'ctest',
    '--test-dir',
    tree,
    '--output-on-failure',
    '--no-tests=error',
    '--timeout',
    '300',
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
  return { passed: Number(summary[3]) - failed, failed };
}

/** ThreadSanitizer of GCC 12 does not start where the kernel randomises more address bits than it knows. */
async function withoutAddressRandomisation() {
  if (!findProgram('setarch')) return [];
  const probe = await run('setarch', ['-R', 'true'], { quiet: true, allowFailure: true });
  return probe.code === 0 ? ['setarch', '-R'] : [];
}
