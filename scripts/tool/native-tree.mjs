// One CMake tree: configuring it when its options changed, building targets in it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { ccacheEnvironment, launcherOptions } from './ccache.mjs';
import { findProgram, run } from './command.mjs';
import { root } from './project.mjs';
import { Stop } from './stop.mjs';

const require = createRequire(import.meta.url);

/** Stops with the names of all missing programs and how to get them. */
export function requireToolchain() {
  const missing = [];
  if (!findProgram('cmake')) missing.push('CMake 3.22 or newer');
  if (process.platform !== 'win32') {
    if (!findProgram('c++') && !findProgram('g++') && !findProgram('clang++'))
      missing.push('a C++20 compiler (GCC 12, Clang 15 or newer)');
    if (!findProgram('ninja') && !findProgram('make')) missing.push('make or ninja');
  }
  if (missing.length === 0) return;
  const hint = process.platform === 'linux' ? ' (Debian and Ubuntu: apt-get install cmake g++ make)' : '';
  throw new Stop(`compiling the addon needs ${missing.join(', ')}, not found on PATH${hint}`);
}

/** The configure command of a tree that knows nothing of Node: for the native tests. */
export const plainConfigure = (tree, options) => {
  const generator = findProgram('ninja') ? ['-G', 'Ninja'] : [];
  const definitions = Object.entries({ ...options, ...launcherOptions() }).map(
    ([key, value]) => `-D${key}=${value}`,
  );
  return ['cmake', '-S', root, '-B', tree, ...generator, ...definitions];
};

/** The configure command of a tree that builds a GPU plugin. */
export const pluginConfigure = (tree, options) => {
  const [cmake, , , ...rest] = plainConfigure(tree, options);
  return [cmake, '-S', join(root, 'native', 'plugins'), ...rest];
};

/** The configure command of a tree that builds the addon, from cmake-js, which knows where Node-API's headers are. */
export async function addonConfigure(tree, options) {
  requireToolchain();
  const { BuildSystem } = loadCmakeJs();
  const cMakeOptions = { ...options, ...launcherOptions(), LOREKEEP_NODE_ADDON_API: nodeAddonApi() };
  const system = new BuildSystem({
    directory: root,
    out: tree,
    config: 'Release',
    cMakeOptions,
    noLog: true,
  });
  return system.getConfigureCommand();
}

function loadCmakeJs() {
  try {
    return require('cmake-js');
  } catch {
    throw new Stop('cmake-js is not installed; run `npm ci` (or `npm install`) first');
  }
}

/** The folder of napi.h. (The package's own `include_dir` is relative to the working directory.) */
const nodeAddonApi = () => dirname(require.resolve('node-addon-api'));

/** Configures `tree` unless it already is with exactly this command. CMake itself notices changed CMake files. */
export async function configure(tree, command) {
  const stamp = join(tree, 'lorekeep-configured.txt');
  const wanted = createHash('sha256').update(command.join('\n')).digest('hex');
  if (existsSync(join(tree, 'CMakeCache.txt')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted)
    return false;
  dropMovedTree(tree);
  mkdirSync(tree, { recursive: true });
  rmSync(stamp, { force: true });
  await run(command[0], command.slice(1), {
    cwd: tree,
    log: join(tree, 'configure.log'),
    env: ccacheEnvironment,
  });
  writeFileSync(stamp, wanted);
  return true;
}

/** A tree made at another path, or with another generator, cannot be used; CMake only says so. */
function dropMovedTree(tree) {
  const cache = join(tree, 'CMakeCache.txt');
  if (!existsSync(cache)) return;
  const home = /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(readFileSync(cache, 'utf8'))?.[1];
  const generator = /^CMAKE_GENERATOR:INTERNAL=(.*)$/m.exec(readFileSync(cache, 'utf8'))?.[1];
  const ninja = findProgram('ninja') !== undefined;
  if (home !== root || (process.platform !== 'win32' && (generator === 'Ninja') !== ninja)) {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** Builds `targets` (all, if none) and returns how many files were compiled. `report` gets how far it is. */
export async function build(tree, targets = [], report = () => {}) {
  let compiled = 0;
  const onLine = (line) => {
    const done = stepsDone(line);
    if (done) report(done);
    if (/\bBuilding (C|CXX|ASM) object\b/.test(line)) compiled++;
  };
  const jobs = process.env.LOREKEEP_JOBS ?? String(availableParallelism());
  const targetArguments = targets.length > 0 ? ['--target', ...targets] : [];
  await run('cmake', ['--build', tree, '--parallel', jobs, ...targetArguments], {
    log: join(tree, 'build.log'),
    env: ccacheEnvironment,
    onLine,
  });
  return compiled;
}

/** "12 of 250 steps" of ninja's line, "5 %" of make's, undefined of any other. */
export function stepsDone(line) {
  const [, done, all, percent] = /^\[(?:(\d+)\/(\d+)|\s*(\d+)%)\]/.exec(line) ?? [];
  if (percent) return `${percent} %`;
  return done && `${done} of ${all} steps`;
}
