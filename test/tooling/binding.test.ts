import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { platform } from '../../lib/boundary/addon-files.js';
import { isForMusl } from '../../lib/boundary/c-library.js';
import { checkExports, explainLinkerError } from '../../lib/boundary/load-failure.js';
import { temporaryFolder } from '../helpers/folder.js';

const root = join(import.meta.dirname, '..', '..');
const folder = temporaryFolder();

/** A package of that name in which the compiled loader lies where it would, and no addon. */
function emptyPackage(name: string): string {
  const place = folder(name);
  const boundary = join('dist', 'lib', 'boundary');
  mkdirSync(join(place, boundary), { recursive: true });
  const files = [
    'addon-files',
    'c-library',
    'binding',
    'error-details',
    'errors',
    'load-failure',
    'native',
    'own-package',
    'source-package',
  ];
  for (const file of [...files, 'whole-library'].map((name) => `${name}.js`)) {
    cpSync(join(root, boundary, file), join(place, boundary, file));
  }
  writeFileSync(
    join(place, 'package.json'),
    JSON.stringify({ name: 'lorekeep', version: '1.2.3', type: 'module' }),
  );
  cpSync(join(root, 'node_modules', 'node-gyp-build'), join(place, 'node_modules', 'node-gyp-build'), {
    recursive: true,
  });
  return place;
}

function addBuild(place: string, file: string, content: string | Buffer): void {
  mkdirSync(join(place, 'build', 'Release'), { recursive: true });
  writeFileSync(join(place, 'build', 'Release', file), content);
}

/** What importing the loader there rejects with. */
function loadError(
  place: string,
  env: Record<string, string> = {},
): { code: string; message: string; detail: object } {
  const script = `import(${JSON.stringify(join(place, 'dist', 'lib', 'boundary', 'binding.js'))}).then(
    () => console.log('{"code":"LOADED"}'),
    ({ code, message, detail }) => console.log(JSON.stringify({ code, message, detail })));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--eval', script], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/** A shared library that needs another one, which does not exist. */
function libraryWithMissingNeighbour(): Buffer {
  const place = folder('library');
  mkdirSync(place);
  writeFileSync(join(place, 'one.c'), 'int one(void) { return 1; }');
  writeFileSync(join(place, 'two.c'), 'int one(void); int two(void) { return one(); }');
  execFileSync('cc', ['-shared', '-fPIC', 'one.c', '-o', 'libone.so'], { cwd: place });
  execFileSync('cc', ['-shared', '-fPIC', 'two.c', '-L.', '-lone', '-o', 'lorekeep.node'], { cwd: place });
  return execFileSync('cat', ['lorekeep.node'], { cwd: place });
}

describe('the loader', () => {
  test('says what it looked for when there is no addon', () => {
    const { code, message, detail } = loadError(emptyPackage('absent'));
    expect(code).toBe('UNSUPPORTED');
    expect(message).toContain(`there is none for ${platform} in build/Release/ or prebuilds/`);
    expect(message).toContain('`npm install @lorekeep/source@1.2.3` compiles it from source');
    expect(detail).toMatchObject({ platform, tried: [] });
  });

  test('tells a developer in a checkout to build', () => {
    const place = emptyPackage('checkout');
    writeFileSync(join(place, 'biome.json'), '{}');
    expect(loadError(place).message).toMatch(/; run `npm run build`; `lorekeep doctor` explains more$/);
  });

  test('names the settings of bundlers when its code was copied out of the package', () => {
    const place = emptyPackage('bundled');
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name: 'product', type: 'module' }));
    const { code, message } = loadError(place);
    expect(code).toBe('UNSUPPORTED');
    expect(message).toContain(`lorekeep runs from ${place}, outside its package`);
    expect(message).toContain('`--external:lorekeep`');
  });

  test('looks beside the asar archive that it lies in, and tells to unpack it otherwise', () => {
    const place = emptyPackage(join('app.asar', 'node_modules', 'lorekeep'));
    expect(loadError(place).message).toMatch(
      /lorekeep is in an asar archive, .*"asarUnpack": \["\*\*\/node_modules/,
    );
    const unpacked = folder('app.asar.unpacked', 'node_modules', 'lorekeep');
    mkdirSync(unpacked, { recursive: true });
    cpSync(join(place, 'package.json'), join(unpacked, 'package.json'));
    addBuild(unpacked, 'lorekeep.node', 'this is not a library '.repeat(10));
    const { message } = loadError(place);
    expect(message).toContain(`${join(unpacked, 'build', 'Release', 'lorekeep.node')} does not load`);
  });

  test('tells to install again when a file of the package is damaged', () => {
    const place = emptyPackage('damaged');
    const prebuild = join(place, 'prebuilds', platform);
    mkdirSync(prebuild, { recursive: true });
    writeFileSync(join(prebuild, 'lorekeep.node'), 'this is not a library '.repeat(10));
    expect(loadError(place).message).toContain('install lorekeep again, or: `npm install @lorekeep/source');
  });

  test('prefers the addon that the source package has compiled to a prebuild, and names it', () => {
    const place = emptyPackage('compiled');
    const source = join(place, 'node_modules', '@lorekeep', 'source');
    for (const at of [join(source, 'build', 'Release'), join(place, 'prebuilds', platform)]) {
      mkdirSync(at, { recursive: true });
      writeFileSync(join(at, 'lorekeep.node'), 'this is not a library '.repeat(10));
    }
    const manifest = (version: string) => JSON.stringify({ name: '@lorekeep/source', version });
    writeFileSync(join(source, 'package.json'), manifest('1.2.3'));
    expect(loadError(place).message).toContain(
      `${join(source, 'build', 'Release', 'lorekeep.node')} does not`,
    );
    expect(loadError(place).message).toContain('`npx @lorekeep/source` compiles it');
    writeFileSync(join(source, 'package.json'), manifest('1.2.4'));
    expect(loadError(place).message).toContain(
      `${join(place, 'prebuilds', platform, 'lorekeep.node')} does not`,
    );
  });

  test('tells a program for musl by its dynamic loader, on any system', () => {
    const program = join(emptyPackage('programs'), 'program');
    const write = (loader: string) => {
      const header = Buffer.alloc(64 + 56);
      header.write('\x7fELF', 'latin1');
      header.writeBigUInt64LE(64n, 32); // the table of segments
      header.writeUInt16LE(56, 54);
      header.writeUInt16LE(1, 56);
      header.writeUInt32LE(3, 64); // PT_INTERP
      header.writeBigUInt64LE(120n, 64 + 8);
      header.writeBigUInt64LE(BigInt(loader.length), 64 + 32);
      writeFileSync(program, Buffer.concat([header, Buffer.from(loader)]));
    };
    write('/lib64/ld-linux-x86-64.so.2\0');
    expect(isForMusl(program)).toBe(false);
    write('/lib/ld-musl-x86_64.so.1\0');
    expect(isForMusl(program)).toBe(true);
    writeFileSync(program, 'no program of /lib/ld-musl-x86_64.so.1');
    expect(isForMusl(program)).toBe(false);
    expect(isForMusl(join(program, 'absent'))).toBe(false);
  });

  test('looks at prebuilds alone when told so', () => {
    const place = emptyPackage('prebuilds-only');
    addBuild(place, 'lorekeep.node', 'nothing');
    expect(loadError(place, { PREBUILDS_ONLY: '1' }).message).toContain(
      `none for ${platform} in prebuilds/ of`,
    );
  });

  test('recognises a file that is no library of this system', () => {
    const place = emptyPackage('garbage');
    addBuild(place, 'lorekeep.node', 'this is not a library, whatever its name says '.repeat(10));
    const { message, detail } = loadError(place);
    expect(message).toContain(`${join('build', 'Release', 'lorekeep.node')} does not load`);
    expect(message).toContain('it is damaged, or was built for another operating system');
    expect(detail).toMatchObject({ tried: [join(place, 'build', 'Release', 'lorekeep.node')] });
  });

  test.runIf(process.platform === 'linux')('names the shared library that is missing', () => {
    const place = emptyPackage('neighbour');
    addBuild(place, 'lorekeep.node', libraryWithMissingNeighbour());
    expect(loadError(place).message).toContain('the shared library libone.so is missing');
  });

  test('names what an addon of another build lacks', () => {
    expect(() => checkExports({ CancelToken: class {} }, 'old.node')).toThrow(
      /old\.node is of another build .* it lacks .*TextArena, .*; run `npm run build` or reinstall/,
    );
  });

  test('explains another C library, and files that this user may not read', () => {
    for (const message of [
      'No native build was found for platform=linux arch=x64 runtime=node abi=115 uv=1 libc=glibc node=20.20.2',
      'libc.musl-x86_64.so.1: cannot open shared object file: No such file or directory',
      'Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /x/lorekeep.node)',
    ])
      expect(explainLinkerError(message)).toEqual({
        reason: "it was built for another C library than this system's",
      });
    for (const name of ['/x/lorekeep.glibc.node', 'libllama.so']) {
      const problem = explainLinkerError(`${name}: cannot open shared object file: Permission denied`);
      expect(problem?.reason).toMatch(/may not read/);
      expect(problem?.remedy).toMatch(/^let this user read/);
      expect(problem?.missingLibrary).toBeUndefined();
    }
  });

  test('explains an old C library and an old libstdc++', () => {
    const message =
      "/lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.38' not found (required by /x/libllama.so)";
    expect(explainLinkerError(message)?.reason).toBe(
      "it needs glibc 2.38 or newer, and this system's is older",
    );
    expect(explainLinkerError("libstdc++.so.6: version `GLIBCXX_3.4.32' not found")?.reason).toBe(
      'it needs a newer libstdc++ (GLIBCXX_3.4.32) than this system has',
    );
  });
});
