// Zig's C and C++ compiler, from a Python wheel, as CMake expects a compiler.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tool/project.mjs';
import { fetchWheel } from './wheel.mjs';

const wheel = {
  package: 'ziglang',
  version: '0.17.1',
  platform: 'manylinux2010_x86_64',
  sha256: 'ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54',
  program: 'ziglang/zig',
};

/** Returns CMake's definitions for native/cmake/toolchains/zig.cmake. `triple`: what Zig calls the platform. */
export async function zigDefinitions({ triple, system, processor }) {
  const zig = await fetchWheel(wheel);
  const folder = join(root, '.cache', 'cross', 'zig', triple);
  mkdirSync(folder, { recursive: true });
  for (const name of ['cc', 'c++'])
    writeProgram(join(folder, name), `${translateArm}exec '${zig}' ${name} -target ${triple} "$@"\n`);
  for (const name of ['ar', 'ranlib']) writeProgram(join(folder, name), `exec '${zig}' ${name} "$@"\n`);
  return { LOREKEEP_ZIG: folder, LOREKEEP_SYSTEM: system, LOREKEEP_PROCESSOR: processor };
}

/** Zig takes architectures of ARM as features of a processor alone: -mcpu=generic+v8_2a+dotprod for -march=armv8.2-a+dotprod. */
const translateArm = `for argument do
  shift
  case "$argument" in
    -march=armv*) argument=$(printf %s "$argument" |
      sed -E 's/^-march=armv([0-9]+)-a/-mcpu=generic+v\\1a/; s/^-march=armv([0-9]+)\\.([0-9]+)-a/-mcpu=generic+v\\1_\\2a/
              s/\\+fp16(\\+|$)/+fullfp16\\1/; s/\\+no/-/g') ;;
  esac
  set -- "$@" "$argument"
done
`;

/** Leaves a program as it is: ccache knows a compiler by its time. */
function writeProgram(path, script) {
  const text = `#!/bin/sh\n${script}`;
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}
