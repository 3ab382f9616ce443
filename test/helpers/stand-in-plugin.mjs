/** A GPU plugin for tests and benchmarks, test/native/plugins/stand_in.cc, compiled against the built libraries. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const source = join(root, 'test', 'native', 'plugins', 'stand_in.cc');
const ggml = join(root, 'native', 'vendor', 'llama.cpp', 'ggml');
const libraries = join(root, 'build', 'Release');

/**
 * Returns a folder with the plugin under the name of a backend, for LOREKEEP_BACKENDS.
 * @param {string} folder
 * @param {string} backend
 * @returns {string}
 */
export function standInFolder(folder, backend = 'vulkan') {
  mkdirSync(folder, { recursive: true });
  const place = join(folder, `libggml-${backend}.so`);
  rmSync(place, { force: true }); // a loaded library must not change
  copyFileSync(compiled(), place);
  return folder;
}

/** Compiles once per version of the source and of ggml. */
function compiled() {
  const hash = createHash('sha256').update(readFileSync(source));
  hash.update(readFileSync(join(ggml, 'src', 'ggml-backend-impl.h')));
  hash.update(readFileSync(join(root, 'native', 'cmake', 'LlamaCpp.cmake')));
  const cache = join(root, '.cache');
  const file = join(cache, `stand-in-${hash.digest('hex').slice(0, 16)}.so`);
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const beside = `${file}.${process.pid}`;
  const includes = [`-I${join(ggml, 'include')}`, `-I${join(ggml, 'src')}`];
  const options = ['-std=c++17', '-O1', '-fPIC', '-shared', '-fvisibility=hidden', '-Wl,-rpath,$ORIGIN'];
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const linked = [`-L${libraries}`, ...['ggml', 'ggml-base'].map((name) => `-llorekeep-${version}-${name}`)];
  execFileSync('c++', [...options, ...includes, source, ...linked, '-o', beside], { stdio: 'pipe' });
  renameSync(beside, file);
  return file;
}
