// How programs of another platform run here.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { useMusl } from './musl.mjs';
import { programPath } from './programs.mjs';

const folder = join(root, '.cache', 'cross');

/**
 * By name: `start(program)` makes what a Node.js needs, and returns the command that runs it, its environment, and what ends all;
 * `forTests()` returns the command that CMake puts before a C++ test.
 */
export const emulators = {
  wine: { start: startWine },
  qemu: { start: startQemu, forTests: qemu },
  musl: { start: startMusl, forTests: () => [] },
};

/** A Windows 10 of its own, so that neither the user's settings nor another run's decide. */
async function startWine(program) {
  const wine64 = programPath('wine64');
  const prefix = join(folder, 'wine');
  const env = {
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    NODE_OPTIONS: `--require Z:${join(root, 'scripts', 'cross', 'wine', 'no-keep-alive.cjs')}`,
    NODE_SKIP_PLATFORM_CHECK: '1', // Wine 8 calls itself Windows 7 where Node.js asks
  };
  const ready = join(prefix, 'lorekeep-ready');
  if (!existsSync(ready)) {
    mkdirSync(prefix, { recursive: true });
    const log = join(folder, 'wine.log');
    await run(wine64, ['wineboot', '-i'], { env, log });
    const version = ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'];
    await run(wine64, version, { env, log });
    await bringRandomBytes(join(prefix, 'drive_c', 'windows', 'system32', 'bcryptprimitives.dll'), log);
    writeFileSync(ready, '');
  }
  const end = () => run(programPath('wineserver'), ['-k'], { env, quiet: true, allowFailure: true });
  return { command: [wine64, program], env, end };
}

async function bringRandomBytes(library, log) {
  const source = join(root, 'scripts', 'cross', 'wine', 'process_prng.c');
  const args = ['-O2', '-shared', '-static', source, '-o', library, '-ladvapi32'];
  await run('x86_64-w64-mingw32-gcc-posix', args, { log });
}

/** Not `qemu-aarch64 -L /usr/aarch64-linux-gnu`: that folder would then be the programs' "/". */
function qemu() {
  const libraries = '/usr/aarch64-linux-gnu/lib';
  return [programPath('qemu-aarch64'), join(libraries, 'ld-linux-aarch64.so.1'), '--library-path', libraries];
}

/** Its child processes run `node` by name or as process.execPath: a script that starts the emulator. */
function startQemu(program) {
  const node = join(folder, 'linux-arm64', 'bin', 'node');
  const command = [...qemu(), program].map((word) => `'${word}'`).join(' ');
  mkdirSync(dirname(node), { recursive: true });
  writeFileSync(node, `#!/bin/sh\nexec ${command} "$@"\n`);
  chmodSync(node, 0o755);
  const env = {
    LOREKEEP_EMULATED_NODE: node,
    NODE_OPTIONS: `--require ${join(root, 'scripts', 'cross', 'exec-path.cjs')}`,
    PATH: pathFrom(node),
  };
  return { command: [node], env, end: () => {} };
}

/** The processor is this one: the program needs its own dynamic loader alone. */
async function startMusl(program) {
  await useMusl(program);
  const env = {
    NODE_OPTIONS: `--require ${join(root, 'scripts', 'cross', 'no-ldd.cjs')}`,
    PATH: pathFrom(program),
  };
  return { command: [program], env, end: () => {} };
}

const pathFrom = (program) => `${dirname(program)}:${process.env.PATH}`;
