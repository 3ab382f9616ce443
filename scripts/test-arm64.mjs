// `npm run test:arm64 [-- NAME ...]`: cross-compiles our own C++ for Linux on ARM and runs its tests under qemu-user.
// Not a part of `npm test`: an emulated test takes ten times as long.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { programsOf, selectNames } from './testing/native.mjs';
import { findProgram, run } from './tool/command.mjs';
import { build, configure, plainConfigure } from './tool/native-tree.mjs';
import { phase } from './tool/phase.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';
import { withTreeLock } from './tool/tree-lock.mjs';
import { vendor } from './vendor/vendor.mjs';

/** Seconds for one test. */
const limit = '600';

await runScript('test-arm64', async (filters) => {
  requirePrograms();
  const tree = join(root, '.cmake', 'arm64');
  await withTreeLock(tree, async () => {
    await phase('vendor', () => vendor());
    await phase('configure', async () => {
      await configure(tree, plainConfigure(tree, options()));
    });
    const known = await testNames(tree);
    const names = selectNames(known, filters, known);
    await phase('compile', async () => `${await build(tree, programsOf(names, known))} files`);
    const jobs = String(availableParallelism());
    const only = ['-R', `^(${names.join('|')})$`];
    const args = [
      '--test-dir',
      tree,
      '--output-on-failure',
      '--no-tests=error',
      '--timeout',
      limit,
      '-j',
      jobs,
    ];
    await run('ctest', [...args, ...only], { cwd: root });
  });
});

function requirePrograms() {
  const needed = {
    'aarch64-linux-gnu-g++': 'g++-aarch64-linux-gnu',
    'qemu-aarch64': 'qemu-user',
    ctest: 'cmake',
  };
  const missing = Object.entries(needed).filter(([program]) => !findProgram(program));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name).join(' ');
  throw new Stop(
    `${missing.map(([program]) => program).join(', ')} missing (Debian: apt-get install ${packages})`,
  );
}

function options() {
  return {
    CMAKE_TOOLCHAIN_FILE: join(root, 'native', 'cmake', 'toolchains', 'linux-arm64.cmake'),
    CMAKE_BUILD_TYPE: 'Release',
    LOREKEEP_ADDON: 'OFF',
    LOREKEEP_TESTS: 'ON',
  };
}

async function testNames(tree) {
  const { output } = await run('ctest', ['--test-dir', tree, '--show-only=json-v1'], {
    cwd: root,
    quiet: true,
  });
  return JSON.parse(output.slice(output.indexOf('{'))).tests.map((test) => test.name);
}
