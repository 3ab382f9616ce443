import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { findProgram } from './command.mjs';
import { root } from './project.mjs';

/** Compiles through ccache where it is installed and can be used. */
export function launcherOptions() {
  const ccache = findProgram('ccache');
  if (ccache === undefined) return {};
  // Empty, not absent: a tree remembers what it was configured with.
  const launcher = canKeepFiles(ccache) ? ccache : '';
  return { CMAKE_C_COMPILER_LAUNCHER: launcher, CMAKE_CXX_COMPILER_LAUNCHER: launcher };
}

/** Lets two checkouts share what ccache holds. */
export const ccacheEnvironment = { CCACHE_BASEDIR: root, CCACHE_NOHASHDIR: '1' };

/** Whether its folders can be made and written: where the home folder cannot, every compilation would fail. */
export function canKeepFiles(ccache) {
  try {
    for (const name of ['cache_dir', 'temporary_dir']) {
      const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
      const folder = execFileSync(ccache, ['--get-config', name], options).trim();
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
    }
    return true;
  } catch {
    return false;
  }
}
