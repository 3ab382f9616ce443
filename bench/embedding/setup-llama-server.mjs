// Builds llama-server and llama-quantize from the sources that node-llama-cpp brings, the release that lorekeep is built from, for this
// processor (GGML_NATIVE), and llama-server once more held to AVX2 and, on a processor with AMX, to AVX-512 VNNI; keeps the programs in
// .cache/bench/llama-server. Nothing is downloaded. 10 to 20 minutes on two cores.
//
//   npm run setup:llama-server [-- --jobs 2] [--plugins]
//
// --plugins builds another one alone, held to AVX2, which loads its backends as plugins: .cache/bench/llama-server/plugins, a folder
// that runs on other machines and takes lorekeep's plugins of GPUs (bench/gpu).
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { findProgram, run } from '../../scripts/tool/command.mjs';
import { requireToolchain } from '../../scripts/tool/native-tree.mjs';
import { runScript, Stop } from '../../scripts/tool/stop.mjs';
import { cached, root } from '../harness/cache.mjs';
import { builtProgram, bundle, hasAmx } from './llama-server.mjs';

const tileConfigPatch = join(root, 'scripts', 'vendor', 'patches', 'llama.cpp-amx-tile-config.patch');

/** Plain programs: no web page, no HTTPS, nothing that CMake would fetch. */
const definitions = {
  CMAKE_BUILD_TYPE: 'Release',
  BUILD_SHARED_LIBS: 'OFF',
  GGML_NATIVE: 'ON',
  LLAMA_BUILD_UI: 'OFF',
  LLAMA_USE_PREBUILT_UI: 'OFF',
  LLAMA_OPENSSL: 'OFF',
  LLAMA_BUILD_TESTS: 'OFF',
  LLAMA_BUILD_EXAMPLES: 'OFF',
  LLAMA_BUILD_APP: 'OFF',
};

const avx2 = { GGML_NATIVE: 'OFF', GGML_AVX2: 'ON', GGML_FMA: 'ON', GGML_F16C: 'ON', GGML_BMI2: 'ON' };

/** Trees for this processor, and held to older instructions. */
const trees = [
  { folder: 'build', targets: { server: 'llama-server', quantize: 'llama-quantize' }, flags: {} },
  {
    folder: 'build-avx2',
    targets: { avx2: 'llama-server' },
    needs: () => process.arch === 'x64',
    flags: avx2,
  },
  {
    folder: 'build-vnni',
    targets: { vnni: 'llama-server' },
    needs: hasAmx,
    flags: { ...avx2, GGML_AVX512: 'ON', GGML_AVX512_VBMI: 'ON', GGML_AVX512_VNNI: 'ON' },
  },
];

const withPlugins = {
  folder: 'build-plugins',
  targets: {},
  flags: {
    ...avx2,
    BUILD_SHARED_LIBS: 'ON',
    GGML_BACKEND_DL: 'ON',
    CMAKE_BUILD_WITH_INSTALL_RPATH: 'ON',
    CMAKE_INSTALL_RPATH: '$ORIGIN',
  },
};

await runScript('setup:llama-server', async (args) => {
  const { jobs, plugins } = readOptions(args);
  if (!builtProgram() || !existsSync(bundle))
    throw new Stop(
      'node-llama-cpp, which brings the sources, is not installed: run `npm run setup` in bench/ first',
    );
  const missing = plugins
    ? [withPlugins]
    : trees.filter(
        ({ needs = () => true, targets }) =>
          needs() && Object.keys(targets).some((which) => !existsSync(builtProgram(which))),
      );
  if (missing.length === 0) {
    console.log(`${relative(process.cwd(), builtProgram())} is there`);
    return;
  }
  requireToolchain();
  if (!findProgram('git')) throw new Stop('git, which unpacks the sources, was not found on PATH');
  const sources = cached('llama-server', 'src');
  rmSync(sources, { recursive: true, force: true });
  await run('git', ['clone', '--quiet', '-c', 'advice.detachedHead=false', bundle, sources], { quiet: true });
  // Without it a program that GCC 12 compiled ends with SIGSEGV at the first prompt on a processor with AMX.
  await run('git', ['-C', sources, 'apply', tileConfigPatch], { quiet: true });
  for (const tree of missing) await build(sources, tree, jobs);
  rmSync(sources, { recursive: true, force: true });
});

async function build(sources, { folder, targets, flags: own }, jobs) {
  const tree = cached('llama-server', folder);
  const generator = findProgram('ninja') ? ['-G', 'Ninja'] : [];
  const ccache = findProgram('ccache');
  const launchers = ccache ? { CMAKE_C_COMPILER_LAUNCHER: ccache, CMAKE_CXX_COMPILER_LAUNCHER: ccache } : {};
  const all = { ...definitions, ...launchers, ...own };
  const flags = Object.entries(all).map(([key, value]) => `-D${key}=${value}`);
  // Paths relative to the tree: ccache then knows the files of a build elsewhere, too.
  const env = { CCACHE_BASEDIR: root, CCACHE_NOHASHDIR: '1' };
  const log = cached('llama-server', `${folder}.log`);
  const programs = targets === withPlugins.targets ? ['llama-server', 'ggml-cpu'] : Object.values(targets);
  const names = programs.join(' and ');
  console.log(`building ${names} with ${jobs} jobs, 10 to 20 minutes; what the compiler says: ${log}`);
  await run('cmake', ['-S', sources, '-B', tree, ...generator, ...flags], { log, env });
  let shown = 0;
  const onLine = (line) => {
    const [, done, total] = /^\[\s*(\d+)(?:\/(\d+)|%)/.exec(line) ?? [];
    const share = Math.floor((10 * Number(done)) / Number(total ?? 100)) * 10;
    if (share > shown) console.log(`${share} %`);
    shown = Math.max(shown, share || 0);
  };
  const target = ['--target', ...programs, '--config', 'Release', '--parallel', jobs];
  await run('cmake', ['--build', tree, ...target], { log, env, onLine });
  const [where, suffix] = process.platform === 'win32' ? ['bin/Release', '.exe'] : ['bin', ''];
  for (const [which, name] of Object.entries(targets)) {
    const program = builtProgram(which);
    cpSync(`${tree}/${where}/${name}${suffix}`, `${program}.partial`);
    renameSync(`${program}.partial`, program);
    console.log(`built ${relative(process.cwd(), program)}`);
  }
  if (targets === withPlugins.targets) keepAll(join(tree, 'bin'));
  rmSync(tree, { recursive: true, force: true });
}

/** The server with its libraries and the plugin of the CPU. */
function keepAll(from) {
  const folder = cached('llama-server', 'plugins');
  rmSync(folder, { recursive: true, force: true });
  cpSync(from, folder, { recursive: true, verbatimSymlinks: true });
  console.log(`built ${relative(process.cwd(), folder)}`);
}

function readOptions(args) {
  try {
    const { values } = parseArgs({
      args,
      options: { jobs: { type: 'string', default: '2' }, plugins: { type: 'boolean', default: false } },
    });
    if (!/^[1-9]\d{0,2}$/.test(values.jobs))
      throw new Error(`--jobs ${values.jobs}: a number of processes is expected`);
    return values;
  } catch (error) {
    throw new Stop(error.message);
  }
}
