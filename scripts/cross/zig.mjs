// A C++ compiler for musl: LOREKEEP_MUSL if it is set, one on PATH, else Zig's from the Python wheel `ziglang`, which has
// musl and a C++ library.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';

const cache = join(root, '.cache', 'musl');
const target = 'x86_64-linux-musl';
const zigVersion = '0.17.1';

/** Returns CMake's definitions for native/cmake/toolchains/linux-x64-musl.cmake. */
export async function findMusl() {
  const { LOREKEEP_MUSL } = process.env;
  if (LOREKEEP_MUSL) return { LOREKEEP_MUSL };
  if (findProgram(`${target}-g++`)) return { LOREKEEP_MUSL: target };
  const wheel = join(cache, `ziglang-${zigVersion}`);
  if (!existsSync(join(wheel, 'ziglang'))) await bring(wheel);
  const prefix = join(cache, target);
  for (const [name, command] of Object.entries({ gcc: 'cc', 'g++': 'c++' })) {
    const line = `exec '${join(wheel, 'ziglang', 'zig')}' ${command} -target ${target} "$@"`;
    writeFileSync(`${prefix}-${name}`, `#!/bin/sh\n${line}\n`);
    chmodSync(`${prefix}-${name}`, 0o755);
  }
  return { LOREKEEP_MUSL: prefix };
}

async function bring(wheel) {
  mkdirSync(wheel, { recursive: true });
  const python = findProgram('python3');
  if (python === undefined)
    throw new Stop(`${target}-g++ is missing, and python3 with pip is needed to bring Zig`);
  const args = ['-m', 'pip', 'install', '--no-deps', '--target', wheel, `ziglang==${zigVersion}`];
  await run(python, args, { quiet: true, log: join(cache, 'pip.log') });
}
