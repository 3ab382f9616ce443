import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { bareEnvironment, install, pack, root, runConsumer, type Tarball } from './packed.js';

const folder = temporaryFolder();
const platform = `${process.platform}-${process.arch}`;
let tarball: Tarball;

beforeAll(() => {
  if (!existsSync(join(root, 'prebuilds', platform)))
    throw new Error(`prebuilds/${platform} is missing: run \`npm run prebuild\``);
  tarball = pack(folder());
});

describe('the package', () => {
  test('installs without a compiler and without scripts, and works', () => {
    const env = bareEnvironment();
    install(tarball.path, folder('consumer'), env, '--ignore-scripts');
    expect(runConsumer(folder('consumer'), env)).toEqual({ dense: 1, lexical: 2, backends: 1 });
    const program = join(folder('consumer'), 'node_modules', '.bin', 'lorekeep');
    expect(execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8', env })).toContain(
      'lorekeep',
    );
  });

  test('compiles nothing when it is installed: it has no binding.gyp and no install script', () => {
    const paths = tarball.files.map(({ path }) => path);
    expect(paths).toContain('dist/lib/index.js');
    expect(paths.filter((path) => /\.(gyp|cc|cmake)$/.test(path))).toEqual([]);
    const manifest = join(folder('consumer'), 'node_modules', 'lorekeep', 'package.json');
    const { gypfile, scripts } = JSON.parse(readFileSync(manifest, 'utf8'));
    expect(gypfile).toBe(false);
    expect(Object.keys(scripts)).not.toContain('install');
  });

  test('has the libraries of the addon beside it', () => {
    const names = readdirSync(join(root, 'prebuilds', platform));
    expect(names.filter((name) => name.endsWith('.node'))).toHaveLength(1);
    for (const part of ['llama', 'ggml', 'ggml-base'])
      expect(
        names.some((name) => name.replace(/^lib/, '').startsWith(`${part}.`)),
        part,
      ).toBe(true);
    expect(names).toContain('SHA256SUMS');
  });
});
