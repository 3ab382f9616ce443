// The toolchain of each GPU plugin: a check that names its missing parts, and CMake's definitions.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { findCuda } from './cuda.mjs';

/** Returns CMake's definitions for a backend. @throws Stop naming what is missing */
export async function definitionsOf(backend) {
  const definitions = await toolchains[backend]();
  return { LOREKEEP_BACKEND: backend, CMAKE_BUILD_TYPE: 'Release', ...definitions };
}

const toolchains = { vulkan, cuda: findCuda, hip, metal };

async function vulkan() {
  const missing = [];
  if (!findProgram('glslc')) missing.push('glslc');
  const headers = ['/usr/include', '/usr/local/include', join(process.env.VULKAN_SDK ?? '/', 'include')];
  const has = (path) => headers.some((folder) => existsSync(join(folder, path)));
  if (process.platform === 'linux') {
    if (!has('vulkan/vulkan.hpp')) missing.push('libvulkan-dev');
    if (!has('spirv/unified1/spirv.hpp')) missing.push('spirv-headers');
  }
  if (missing.length > 0)
    throw new Stop(
      `the Vulkan plugin needs ${missing.join(', ')} (Debian: apt-get install ${missing.join(' ')})`,
    );
  return {};
}

/** GPU_TARGETS (gfx1100;gfx1030...) selects processors; default: the choice of ROCm's CMake. */
async function hip() {
  const compiler = process.env.HIPCXX ?? firstProgram(['amdclang++', 'clang++-21', 'clang++-19', 'clang++']);
  if (compiler === undefined)
    throw new Stop('the HIP plugin needs a clang with support for AMD GPUs, and ROCm 6.1 or newer');
  const found = await run('hipconfig', ['--version'], { quiet: true, allowFailure: true }).catch(
    () => undefined,
  );
  const [, major, minor] = /(\d+)\.(\d+)/.exec(found?.output ?? '') ?? [];
  if (Number(major) * 100 + Number(minor) < 601 || major === undefined)
    throw new Stop(
      `the HIP plugin needs ROCm 6.1 or newer (hipconfig ${major === undefined ? 'is missing' : `says ${major}.${minor}`}); Debian 13 has 5.7, the release after it 6.4`,
    );
  const { GPU_TARGETS } = process.env;
  return { CMAKE_HIP_COMPILER: compiler, ...(GPU_TARGETS && { GPU_TARGETS }) };
}

async function metal() {
  if (process.platform !== 'darwin') throw new Stop('the Metal plugin is built on macOS');
  return {};
}

function firstProgram(names) {
  return names.map(findProgram).find((path) => path !== undefined);
}

/** The folder of a backend's CMake tree. */
export const treeOf = (backend) => join(root, '.cmake', backend);
