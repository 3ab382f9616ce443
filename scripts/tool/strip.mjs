import { findProgram, run } from './command.mjs';

/** Takes out debug information and the symbols that nobody links to. Exports stay. `program`: of another toolchain. */
export async function strip(file, program = 'strip') {
  if (process.platform === 'win32' || !findProgram(program)) return;
  await run(program, [process.platform === 'darwin' ? '-x' : '--strip-unneeded', file], { quiet: true });
}
