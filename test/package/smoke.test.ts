import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { bareEnvironment, install, pack, root, runConsumer, type Tarball } from './packed.js';
import { product, snapshot } from './sealed.js';

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

  test('is never written to once it is installed, by no command and by no server', () => {
    const inConsumer = (...names: string[]) => join(folder('consumer'), ...names);
    const installed = inConsumer('node_modules', 'lorekeep');
    const program = inConsumer('node_modules', '.bin', 'lorekeep');
    const env = {
      ...bareEnvironment(),
      HOME: folder('home'),
      XDG_DATA_HOME: folder('xdg'),
      LOREKEEP_CACHE: '',
    };
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [program, ...args], { encoding: 'utf8', env, cwd: folder('consumer') });
    const base = { embedding_model: 'all-MiniLM-L6-v2', records_file: '../sample-records.json' };
    mkdirSync(join(installed, 'data', 'base'));
    writeFileSync(join(installed, 'data', 'base', 'kb.json'), JSON.stringify(base));
    mkdirSync(inConsumer('notes'));
    writeFileSync(inConsumer('notes', 'one.md'), '# Bread\n\nBread rises in a warm oven.\n');
    writeFileSync(inConsumer('product.js'), product);
    const before = snapshot(installed);
    expect(before.length).toBeGreaterThan(100);

    run('search', join(installed, 'data', 'base', 'kb.json'), 'who lights the lamp?');
    run('index', 'notes', '--data-dir', folder('mine'));
    expect(readdirSync(folder('mine', 'folders'))).toHaveLength(1);
    expect(run('doctor', '--data-dir', folder('mine'))).toContain(join(folder('mine'), 'logs'));
    const output = execFileSync(process.execPath, ['product.js', folder('theirs')], {
      cwd: folder('consumer'),
      env,
      encoding: 'utf8',
    });
    expect(JSON.parse(output)).toEqual({ warnings: [], exit: 0 });
    expect(readdirSync(folder('theirs', 'logs'))).toContain('service.log');
    run('index', 'notes');
    expect(readdirSync(folder('xdg', 'lorekeep', 'folders'))).toHaveLength(1);

    expect(snapshot(installed)).toEqual(before);
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
        names.some((name) => name.replace(/^lib/, '').startsWith(`lorekeep-${tarball.version}-${part}.`)),
        part,
      ).toBe(true);
    expect(names).toContain('SHA256SUMS');
  });
});
