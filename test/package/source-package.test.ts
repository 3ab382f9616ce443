import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { bareEnvironment, install, npm, npmFails, pack, root, runConsumer } from './packed.js';

const folder = temporaryFolder();
const { version, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  devDependencies: Record<string, string>;
};
const compile = `npm install @lorekeep/source@${version}`;
let withPrebuild: string;
let withoutPrebuild: string;
let source: string;

function unpack(archive: string, into: string): string {
  mkdirSync(into, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', into]);
  return join(into, 'package');
}

const filesOf = (archive: string, into: string) => {
  const place = unpack(archive, into);
  const entries = readdirSync(place, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1));
};

/** The message of the error that importing the installed package throws; undefined if it loads. */
function importError(project: string, env: NodeJS.ProcessEnv): string | undefined {
  const script = `await import('lorekeep').catch(({ message }) => process.stdout.write(message));`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: project,
    env,
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout || undefined;
}

beforeAll(() => {
  withPrebuild = pack(folder()).path;
  const unpacked = unpack(withPrebuild, folder('main'));
  rmSync(join(unpacked, 'prebuilds'), { recursive: true, force: true });
  mkdirSync(folder('bare'));
  withoutPrebuild = pack(folder('bare'), unpacked).path;
  const args = [join(root, 'scripts', 'pack-source.mjs'), '--to', folder()];
  source = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
}, 900_000);

describe('the source package', () => {
  test('holds what a build needs, which the main package does not', () => {
    const sources = filesOf(source, folder('source-files'));
    for (const path of [
      'LICENSE',
      'README.md',
      'CMakeLists.txt',
      'native/binding/addon.cc',
      'native/cmake/LlamaCpp.cmake',
      'native/vendor/llama.cpp/vendored.json',
      'native/vendor/llama.cpp/ggml/src/ggml-cpu/CMakeLists.txt',
      'scripts/vendor/manifest.json',
      'scripts/tool/native-build.mjs',
    ])
      expect(sources, path).toContain(path);
    const unwanted = /^native\/vendor\/(\.|llama\.cpp-(models|backends)|breakpad-tools)|_unittest\.cc$/;
    expect(sources.filter((path) => unwanted.test(path))).toEqual([]);
    const main = filesOf(withPrebuild, folder('main-files'));
    const isSource = (path: string) => /\.(cc?|cpp|h|hpp|cmake|patch|gyp)$/.test(path);
    expect(main.filter((path) => isSource(path) && !/^(clients|examples)\//.test(path))).toEqual([]);
    expect(main.filter((path) => path.startsWith('scripts/'))).toEqual([]);
  });

  test('is of the version of the main package, and brings the tools of the build instead of it', () => {
    const manifest = (archive: string) =>
      JSON.parse(execFileSync('tar', ['-xzOf', archive, 'package/package.json'], { encoding: 'utf8' }));
    const main = manifest(withPrebuild);
    expect(manifest(source)).toMatchObject({
      version,
      peerDependencies: { lorekeep: version },
      dependencies: {
        'cmake-js': devDependencies['cmake-js'],
        'node-addon-api': devDependencies['node-addon-api'],
      },
    });
    expect(main.peerDependencies['@lorekeep/source']).toBe(version);
    expect(Object.keys(main.dependencies)).not.toContain('cmake-js');
    expect(main.scripts.install).toBeUndefined();
  });
});

describe('a project on a platform without a prebuild', () => {
  const project = folder.bind(undefined, 'consumer');
  const env = bareEnvironment();
  const installed = () => join(project(), 'node_modules', '@lorekeep', 'source');

  test('is told how to compile the addon, by the import and by doctor', () => {
    install(withoutPrebuild, project(), env, '--ignore-scripts=false');
    expect(importError(project(), env)).toContain(`\`${compile}\` compiles it from source`);
    const program = join(project(), 'node_modules', '.bin', 'lorekeep');
    const { stdout } = spawnSync(process.execPath, [program, 'doctor'], { env, encoding: 'utf8' });
    expect(stdout).toContain(`install a C++20 compiler and CMake, then run \`${compile}\``);
  });

  test('is told what a build lacks when the source package is installed without a compiler', () => {
    const output = npmFails(
      ['install', '--prefer-offline', '--ignore-scripts=false', source],
      project(),
      env,
    );
    expect(output).toContain(
      '@lorekeep/source: compiling the addon needs CMake 3.22 or newer, a C++20 compiler',
    );
  });

  test('is told to run the source package whose install script did not run', () => {
    npm(['install', '--prefer-offline', '--ignore-scripts', source], project(), env);
    expect(importError(project(), env)).toContain('`npx @lorekeep/source` compiles it from source');
    const program = join(project(), 'node_modules', '.bin', 'lorekeep-source');
    const options = { cwd: project(), env, encoding: 'utf8', shell: process.platform === 'win32' } as const;
    const { stderr, status } = spawnSync(program, options);
    expect(status).toBe(1);
    expect(stderr).toContain('compiling the addon needs CMake');
  });

  test('loads the addon that the source package has compiled, unless that is of another version', () => {
    cpSync(join(root, 'build', 'Release'), join(installed(), 'build', 'Release'), { recursive: true });
    expect(runConsumer(project(), env)).toEqual({ dense: 1, lexical: 2, backends: 1 });
    const manifest = join(installed(), 'package.json');
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace(`"version": "${version}"`, '"version": "0.0.9"'));
    expect(importError(project(), env)).toContain(`\`${compile}\` compiles it from source`);
    writeFileSync(manifest, text);
  });
});

test('the source package compiles nothing where the prebuild loads', () => {
  const env = bareEnvironment();
  install(withPrebuild, folder('both'), env, '--ignore-scripts=false', source);
  expect(existsSync(join(folder('both'), 'node_modules', '@lorekeep', 'source', 'build'))).toBe(false);
  expect(runConsumer(folder('both'), env)).toEqual({ dense: 1, lexical: 2, backends: 1 });
});
