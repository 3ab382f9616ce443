// `npm run test:arm64 [-- NAME ...]`: cross-compiles our own C++ for Linux on ARM and runs its tests under qemu-user.
// `npm run test:windows [-- NAME ...]`: the same for Windows, with MinGW and Wine.
// `npm run test:musl [-- NAME ...]`: the same for musl; its static programs run on any Linux x64.
// Not a part of `npm test`: an emulated test takes ten times as long.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { programsOf, selectNames } from './testing/native.mjs';
import { findProgram, run } from './tool/command.mjs';
import { findMusl } from './tool/musl-compiler.mjs';
import { build, configure, plainConfigure } from './tool/native-tree.mjs';
import { phase } from './tool/phase.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';
import { withTreeLock } from './tool/tree-lock.mjs';
import { vendor } from './vendor/vendor.mjs';

/** Seconds for one test. */
const limit = '1800';

/** Toolchain file, the tests that are known to run (default: all), the Debian package of each program, and definitions. */
const platforms = {
  arm64: {
    toolchain: 'linux-arm64.cmake',
    needed: { 'aarch64-linux-gnu-g++': 'g++-aarch64-linux-gnu', 'qemu-aarch64': 'qemu-user', ctest: 'cmake' },
  },
  windows: {
    toolchain: 'windows-x64-mingw.cmake',
    tests: ['core_names', 'core_values'],
    needed: {
      'x86_64-w64-mingw32-g++-posix': 'g++-mingw-w64-x86-64-posix',
      wine: 'wine wine64',
      ctest: 'cmake',
    },
  },
  musl: {
    toolchain: 'linux-x64-musl.cmake',
    tests: ['core_files', 'core_names', 'core_threads', 'core_values'],
    needed: { ctest: 'cmake' },
    definitions: findMusl,
  },
};

await runScript('test-cross', async ([platform, ...filters]) => {
  const { toolchain, needed, tests, definitions = () => ({}) } = platforms[platform] ?? {};
  if (toolchain === undefined)
    throw new Stop(`${platform}: one of ${Object.keys(platforms).join(', ')} is expected`);
  requirePrograms(needed);
  const tree = join(root, '.cmake', platform);
  await withTreeLock(tree, async () => {
    await phase('vendor', () => vendor());
    await phase('configure', async () => {
      await configure(tree, plainConfigure(tree, { ...options(toolchain), ...(await definitions()) }));
    });
    const known = await testNames(tree);
    const names = selectNames(filters.length > 0 ? known : (tests ?? known), filters, known);
    await phase('compile', async (report) => `${await build(tree, programsOf(names, known), report)} files`);
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

function requirePrograms(needed) {
  const missing = Object.entries(needed).filter(([program]) => !findProgram(program));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name).join(' ');
  throw new Stop(
    `${missing.map(([program]) => program).join(', ')} missing (Debian: apt-get install ${packages})`,
  );
}

function options(toolchain) {
  return {
    CMAKE_TOOLCHAIN_FILE: join(root, 'native', 'cmake', 'toolchains', toolchain),
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
