// CUDA: nvcc from the toolkit; cuBLAS from the toolkit, or from NVIDIA's Python wheel where the toolkit lacks it.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram, run } from '../tool/command.mjs';
import { root } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';

const cache = join(root, '.cache', 'cuda');

/** Functions of the driver that the plugin calls, for virtual memory (VMM). */
const driverFunctions = [
  'cuDeviceGet',
  'cuDeviceGetAttribute',
  'cuGetErrorString',
  'cuMemAddressFree',
  'cuMemAddressReserve',
  'cuMemCreate',
  'cuMemGetAllocationGranularity',
  'cuMemMap',
  'cuMemRelease',
  'cuMemSetAccess',
  'cuMemUnmap',
];

/** CMAKE_CUDA_ARCHITECTURES in the environment selects GPUs; default: all that ggml's CMake names. */
export async function findCuda() {
  const nvcc = process.env.CUDACXX ?? findProgram('nvcc');
  if (nvcc === undefined) throw new Stop('the CUDA plugin needs nvcc, of the CUDA toolkit 12 or 13');
  const { output } = await run(nvcc, ['--version'], { quiet: true });
  const major = /release (\d+)\./.exec(output)?.[1];
  const { CMAKE_CUDA_ARCHITECTURES } = process.env;
  return {
    CMAKE_CUDA_COMPILER: nvcc,
    ...(CMAKE_CUDA_ARCHITECTURES && { CMAKE_CUDA_ARCHITECTURES }),
    ...(await cublas(major)),
    ...(await driver()),
  };
}

/** Nothing if the toolkit has cuBLAS; else where Python's is, or that of the wheel that is brought. */
async function cublas(major) {
  const toolkit = process.env.CUDA_HOME ?? '/usr/local/cuda';
  const inToolkit = [`${toolkit}/lib64`, '/usr/local/cuda-13.0/lib64', '/usr/lib/x86_64-linux-gnu'];
  if (inToolkit.some((folder) => existsSync(join(folder, 'libcublas.so')))) return {};
  const python = findProgram('python3');
  if (python === undefined)
    throw new Stop('the toolkit has no cuBLAS, and python3 with pip is needed to bring it');
  const folder = (await installed(python, major)) ?? (await brought(python, major));
  const library = (name) => {
    const found = readdirSync(join(folder, 'lib')).find((file) => file.startsWith(`lib${name}.so`));
    if (found === undefined) throw new Stop(`the wheel nvidia-cublas has no lib${name}`);
    const plain = join(cache, `lib${name}.so`);
    mkdirSync(cache, { recursive: true });
    rmSync(plain, { force: true });
    symlinkSync(join(folder, 'lib', found), plain);
    return plain;
  };
  return {
    CUDA_cublas_LIBRARY: library('cublas'),
    CUDA_cublasLt_LIBRARY: library('cublasLt'),
    CMAKE_CUDA_FLAGS: `-I${join(folder, 'include')}`,
    CMAKE_CXX_FLAGS: `-I${join(folder, 'include')}`,
  };
}

/** The folder of the Python package nvidia-cublas that is installed; undefined if none is. */
async function installed(python, major) {
  const program = 'import nvidia; print(*nvidia.__path__, sep="\\n")';
  const { code, output } = await run(python, ['-c', program], { quiet: true, allowFailure: true });
  const folders =
    code === 0
      ? output
          .trim()
          .split('\n')
          .map((folder) => join(folder, `cu${major}`))
      : [];
  return folders.find((folder) => existsSync(join(folder, 'include', 'cublas_v2.h')));
}

async function brought(python, major) {
  const wheel = join(cache, 'wheel');
  const folder = join(wheel, 'nvidia', `cu${major}`);
  if (!existsSync(folder)) {
    mkdirSync(wheel, { recursive: true });
    const args = ['-m', 'pip', 'install', '--no-deps', '--target', wheel, `nvidia-cublas==${major}.*`];
    await run(python, args, { quiet: true, log: join(cache, 'pip.log') });
  }
  if (!existsSync(folder)) throw new Stop(`the wheel nvidia-cublas has no ${folder}`);
  return folder;
}

/** The driver's library comes with the driver: machines that build have none, so the plugin links to a stub. */
async function driver() {
  const stub = join(cache, 'libcuda.so');
  const source = join(cache, 'libcuda.c');
  mkdirSync(dirname(stub), { recursive: true });
  writeFileSync(source, driverFunctions.map((name) => `int ${name}(void) { return 999; }\n`).join(''));
  await run('cc', ['-shared', '-fPIC', '-Wl,-soname,libcuda.so.1', '-o', stub, source], { quiet: true });
  return { CUDA_cuda_driver_LIBRARY: stub };
}
