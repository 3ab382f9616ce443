// Builds llama-server from the sources that node-llama-cpp brings, the release that lorekeep is built from, for this processor
// (GGML_NATIVE), and keeps the program in .cache/bench/llama-server. Nothing is downloaded. 10 to 20 minutes on two cores.
//
//   npm run setup:llama-server [-- --jobs 2]
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { findProgram, run } from '../../scripts/tool/command.mjs';
import { requireToolchain } from '../../scripts/tool/native-tree.mjs';
import { runScript, Stop } from '../../scripts/tool/stop.mjs';
import { cached, root } from '../harness/cache.mjs';
import { builtServer, bundle } from './llama-server.mjs';

/** The plain server: no web page in it, no HTTPS, nothing that CMake would fetch. */
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

await runScript('setup:llama-server', async (args) => {
  const { jobs } = readOptions(args);
  const program = builtServer();
  if (!program || !existsSync(bundle))
    throw new Stop(
      'node-llama-cpp, which brings the sources, is not installed: run `npm run setup` in bench/ first',
    );
  if (existsSync(program)) {
    console.log(`${relative(process.cwd(), program)} is there`);
    return;
  }
  requireToolchain();
  if (!findProgram('git')) throw new Stop('git, which unpacks the sources, was not found on PATH');
  const [sources, tree] = ['src', 'build'].map((name) => cached('llama-server', name));
  rmSync(sources, { recursive: true, force: true });
  await run('git', ['clone', '--quiet', '-c', 'advice.detachedHead=false', bundle, sources], { quiet: true });
  await build(sources, tree, jobs);
  const partial = `${program}.partial`;
  cpSync(
    `${tree}/bin/${process.platform === 'win32' ? 'Release/llama-server.exe' : 'llama-server'}`,
    partial,
  );
  renameSync(partial, program);
  for (const folder of [sources, tree]) rmSync(folder, { recursive: true, force: true });
  console.log(`built ${relative(process.cwd(), program)}`);
});

async function build(sources, tree, jobs) {
  const generator = findProgram('ninja') ? ['-G', 'Ninja'] : [];
  const ccache = findProgram('ccache');
  const launchers = ccache ? { CMAKE_C_COMPILER_LAUNCHER: ccache, CMAKE_CXX_COMPILER_LAUNCHER: ccache } : {};
  const flags = Object.entries({ ...definitions, ...launchers }).map(([key, value]) => `-D${key}=${value}`);
  // Paths relative to the tree: ccache then knows the files of a build elsewhere, too.
  const env = { CCACHE_BASEDIR: root, CCACHE_NOHASHDIR: '1' };
  const log = cached('llama-server', 'build.log');
  console.log(`building llama-server with ${jobs} jobs, 10 to 20 minutes; what the compiler says: ${log}`);
  await run('cmake', ['-S', sources, '-B', tree, ...generator, ...flags], { log, env });
  const target = ['--target', 'llama-server', '--config', 'Release', '--parallel', jobs];
  let shown = 0;
  const onLine = (line) => {
    const [, done, total] = /^\[\s*(\d+)(?:\/(\d+)|%)/.exec(line) ?? [];
    const share = Math.floor((10 * Number(done)) / Number(total ?? 100)) * 10;
    if (share > shown) console.log(`${share} %`);
    shown = Math.max(shown, share || 0);
  };
  await run('cmake', ['--build', tree, ...target], { log, env, onLine });
}

function readOptions(args) {
  try {
    const { values } = parseArgs({ args, options: { jobs: { type: 'string', default: '2' } } });
    if (!/^[1-9]\d{0,2}$/.test(values.jobs))
      throw new Error(`--jobs ${values.jobs}: a number of processes is expected`);
    return values;
  } catch (error) {
    throw new Stop(error.message);
  }
}
