// The CMake tree of a target, with its addon, if it has one, and its C++ tests.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findProgram } from '../tool/command.mjs';
import { configure, plainConfigure } from '../tool/native-tree.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { targets } from './targets.mjs';

/** Where Debian puts programs that it leaves out of PATH. */
const outsidePath = { wine64: '/usr/lib/wine/wine64', wineserver: '/usr/lib/wine/wineserver' };

/** The path of a program, or undefined. */
export const programPath = (name) =>
  findProgram(name) ?? [outsidePath[name]].find((path) => path !== undefined && existsSync(path));

export function requireTarget(name) {
  if (targets[name] === undefined)
    throw new Stop(`${name}: one of ${Object.keys(targets).join(', ')} is expected`);
  const target = { name, ...targets[name] };
  const missing = Object.keys(target.needed).filter((program) => programPath(program) === undefined);
  if (missing.length === 0) return target;
  const packages = missing.map((program) => target.needed[program]).join(' ');
  throw new Stop(`${missing.join(', ')} missing (Debian: apt-get install ${packages})`);
}

export const treeOf = (target) => join(root, '.cmake', target.name);

/** Configures the tree. The caller holds its lock. */
export async function configureTarget(target) {
  const { toolchain, definitions = () => ({}), addon } = target;
  const options = {
    CMAKE_TOOLCHAIN_FILE: join(root, 'native', 'cmake', 'toolchains', toolchain),
    CMAKE_BUILD_TYPE: 'Release',
    LOREKEEP_ADDON: addon === undefined ? 'OFF' : 'ON',
    LOREKEEP_TESTS: 'ON',
    ...(addon === undefined ? {} : nodeApi()),
    ...(await definitions()),
  };
  await configure(treeOf(target), plainConfigure(treeOf(target), options));
}

/** Node-API as cmake-js brings it for the machine's own Node.js: headers, and lists of the functions. */
function nodeApi() {
  const require = createRequire(import.meta.url);
  const headers = dirname(
    createRequire(require.resolve('cmake-js')).resolve('node-api-headers/package.json'),
  );
  return {
    CMAKE_JS_INC: join(headers, 'include'),
    LOREKEEP_NODE_ADDON_API: dirname(require.resolve('node-addon-api')),
    LOREKEEP_NODE_DEFINITIONS: join(headers, 'def'),
  };
}
