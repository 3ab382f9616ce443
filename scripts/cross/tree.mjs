// The CMake tree of a target, with its addon and its C++ tests.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { configure, plainConfigure } from '../tool/native-tree.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { emulators } from './emulators.mjs';
import { programPath } from './programs.mjs';
import { targets } from './targets.mjs';
import { zigDefinitions } from './zig.mjs';

/** `isTested`: whether its tests are to run here, too. */
export function requireTarget(name, { isTested = false } = {}) {
  const known = Object.keys(targets).filter((each) => !isTested || targets[each].emulator !== undefined);
  if (!known.includes(name)) throw new Stop(`${name}: one of ${known.join(', ')} is expected`);
  const target = { name, ...targets[name] };
  const needed = { ...target.needed, ...(isTested ? target.tested : {}) };
  const missing = Object.keys(needed).filter((program) => programPath(program) === undefined);
  if (missing.length === 0) return target;
  const packages = [...new Set(missing.map((program) => needed[program]))].join(' ');
  throw new Stop(`${missing.join(', ')} missing (Debian: apt-get install ${packages})`);
}

export const treeOf = (target) => join(root, '.cmake', target.name);

/** Configures the tree. The caller holds its lock. */
export async function configureTarget({ toolchain = 'zig.cmake', zig, emulator, ...target }) {
  const { forTests = () => [] } = emulators[emulator] ?? {};
  const options = {
    CMAKE_TOOLCHAIN_FILE: join(root, 'native', 'cmake', 'toolchains', toolchain),
    CMAKE_BUILD_TYPE: 'Release',
    LOREKEEP_TESTS: 'ON',
    ...nodeApi(),
    ...(zig === undefined ? {} : await zigDefinitions(zig)),
    LOREKEEP_EMULATOR: forTests().join(';'),
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
