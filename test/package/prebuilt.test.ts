import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, realModel, stories } from '../helpers/real-models.js';
import { standInFolder } from '../helpers/stand-in-plugin.mjs';
import { bareEnvironment, install, npm, pack, root, runConsumer, type Tarball } from './packed.js';

const folder = temporaryFolder();
const platform = `${process.platform}-${process.arch}`;
const mebibyte = 1024 * 1024;
let tarball: Tarball;

beforeAll(() => {
  if (!existsSync(join(root, 'prebuilds', platform))) {
    throw new Error(`prebuilds/${platform} is missing: run \`npm run prebuild\``);
  }
  if (!existsSync(join(root, 'dist'))) throw new Error('dist is missing: run `npm run build`');
  tarball = pack(folder());
});

/** The files that THIRD_PARTY.md names as licence texts of what is compiled into the addon. */
function licenceTexts(): string[] {
  const [, section = ''] = readFileSync(join(root, 'THIRD_PARTY.md'), 'utf8').split(
    '## In the native addon\n',
  );
  const [table = ''] = section.split('\n## ');
  const rows = table.split('\n').filter((line) => /^\| (?!-|name)/.test(line));
  const files = rows.map((row) => row.split(' | ').at(-1)?.replace(/ \|$/, '') ?? '');
  expect(files.length).toBeGreaterThan(6);
  return files;
}

describe('the packed package', () => {
  test('weighs less than 45 MB with the prebuild of this platform, and less than 75 MB unpacked', () => {
    const bytesUnder = (prefix: string) =>
      tarball.files.filter((file) => file.path.startsWith(prefix)).reduce((sum, file) => sum + file.size, 0);
    const mib = (bytes: number) => `${(bytes / mebibyte).toFixed(2)} MiB`;
    console.log(
      [
        `tarball ${mib(tarball.size)}, unpacked ${mib(tarball.unpackedSize)} in ${tarball.files.length} files`,
        ...['dist/', 'prebuilds/', 'native/vendor/', 'native/', 'docs/', 'data/'].map(
          (part) => `  ${part} ${mib(bytesUnder(part))}`,
        ),
      ].join('\n'),
    );
    expect(tarball.size).toBeLessThan(45e6);
    expect(tarball.unpackedSize).toBeLessThan(75e6);
  });

  test('holds what runs, and the licence text of everything that is compiled into it', () => {
    const paths = new Set(tarball.files.map((file) => file.path));
    for (const path of [
      'LICENSE',
      'THIRD_PARTY.md',
      'CHANGELOG.md',
      'licenses/Unicode-3.0.txt',
      'dist/lib/index.js',
      'dist/lib/index.d.ts',
      'dist/src/cli/main.js',
    ]) {
      expect(paths, path).toContain(path);
    }
    for (const path of licenceTexts()) expect(paths, path).toContain(path);
    const unwanted = [...paths].filter((path) =>
      /^(test|src|lib|\.cmake|build|node_modules|bench)\//.test(path),
    );
    expect(unwanted).toEqual([]);
  });

  test('installs without a compiler and without scripts, and works', () => {
    const project = folder('consumer');
    const env = bareEnvironment();
    install(tarball.path, project, env, '--ignore-scripts');
    expect(runConsumer(project, env)).toEqual({ dense: 1, lexical: 2, backends: 1 });
  });

  // The parsers of documents take 6 MB of it.
  test('takes less than 94 MB of disk with the models and all it depends on', () => {
    const script = join(root, 'scripts', 'pack.mjs');
    const archive = execFileSync(process.execPath, [script, '--to', folder()], { encoding: 'utf8' });
    const project = folder('weighed');
    install(archive.trim().split('\n').at(-1) as string, project, bareEnvironment(), '--ignore-scripts');
    const installed = readdirSync(join(project, 'node_modules'), { recursive: true, encoding: 'utf8' });
    expect(installed).toContain(join('lorekeep', 'data', 'models', 'all-MiniLM-L6-v2.gguf'));
    // As du counts it. A disk with blocks of 4 KiB gives each of many small files one.
    const blocks = installed.map((name) => lstatSync(join(project, 'node_modules', name)).blocks);
    const bytes = blocks.reduce((sum, count) => sum + count * 512, 0);
    console.log(`installed: ${(bytes / 1e6).toFixed(1)} MB`);
    expect(bytes).toBeLessThan(94e6);
  });

  describe('with the packages of GPU plugins beside it', () => {
    const project = () => folder('consumer');
    const installed = (backend: string) =>
      join(project(), 'node_modules', '@lorekeep', `${platform}-${backend}`);
    const environment = (more: NodeJS.ProcessEnv = {}) => ({
      ...bareEnvironment(),
      LOREKEEP_BACKENDS: '',
      LOREKEEP_SOFTWARE_GPU: '',
      LOREKEEP_CACHE: folder('cache'),
      ...more,
    });
    /** What `auto` makes of each candidate, in a process of its own that loads nothing. */
    const candidates = (more?: NodeJS.ProcessEnv) => {
      const script = `import { findBackend } from 'lorekeep';
        const { candidates } = await findBackend('auto');
        console.log(JSON.stringify(candidates.map(({ backend, state }) => [backend, state])));`;
      const options = { cwd: project(), env: environment(more), encoding: 'utf8' } as const;
      const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], options);
      return Object.fromEntries(JSON.parse(output)) as Record<string, string>;
    };

    test('finds them', () => {
      const env = environment();
      for (const backend of ['vulkan', 'cuda', 'hip']) {
        const plugin = join(standInFolder(folder('stand-in'), backend), `libggml-${backend}.so`);
        const args = ['scripts/prebuild.mjs', '--backend', backend, '--plugin', plugin, '--to', folder()];
        execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
        const archive = folder(`lorekeep-${platform}-${backend}-${tarball.version}.tgz`);
        const options = ['--no-audit', '--no-fund', '--offline', '--ignore-scripts'];
        npm(['install', ...options, archive], project(), env);
        expect(readdirSync(installed(backend)).sort()).toEqual(
          ['LICENSE', 'README.md', `libggml-${backend}.so`, 'lorekeep-plugin.json', 'package.json'].sort(),
        );
        const script = `import { useBackend } from 'lorekeep';
          const { backend, device, candidates } = await useBackend('${backend}');
          console.log(JSON.stringify({ backend, device: device.name, file: candidates[0].file }));`;
        const loading = { cwd: project(), env, encoding: 'utf8' } as const;
        const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], loading);
        const file = join(realpathSync(installed(backend)), `libggml-${backend}.so`);
        expect(JSON.parse(output)).toEqual({ backend, device: 'GPU0', file });
      }
    });

    test.skipIf(!haveModels(stories))(
      'serves a model on the GPU that auto chose, through a lost device and without its memory',
      () => {
        copyFileSync(
          join(import.meta.dirname, 'children', 'gpu-server.mjs'),
          join(project(), 'gpu-server.mjs'),
        );
        const env = environment({ STAND_IN_LOST: folder('lost'), STAND_IN_TELLS: folder('allocated') });
        const options = { cwd: project(), env, encoding: 'utf8' } as const;
        const output = execFileSync(process.execPath, ['gpu-server.mjs', realModel(stories)], options);
        const { text, ...found } = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<
          string,
          unknown
        >;
        expect((text as string).length).toBeGreaterThan(20);
        expect(found).toEqual({
          candidates: [
            'backend cuda: chosen: GPU0: Stand-in',
            'backend vulkan: not tried: cuda was chosen',
            'backend hip: not tried: auto never chooses it; name it to use it',
            'backend cpu: not tried: cuda was chosen',
          ],
          places: ['GPU0', 'GPU0', 'CPU', 'GPU0'],
          same: [true, true, true],
          lost: 5011,
          bytesUsed: true,
          bytesLeft: 0,
        });
      },
    );

    test('tries a plugin once, and again when its file has changed', () => {
      const chosen = { cuda: 'chosen', vulkan: 'not tried', hip: 'not tried', cpu: 'not tried' };
      expect(candidates()).toEqual(chosen);
      expect(candidates({ STAND_IN_FAILS: 'load' })).toEqual(chosen);
      const file = join(installed('cuda'), 'libggml-cuda.so');
      utimesSync(file, new Date(), new Date());
      expect(candidates({ STAND_IN_FAILS: 'open' })).toMatchObject({ cuda: 'failed', vulkan: 'chosen' });
    });

    test('passes over a plugin that was changed, or is for another ggml', () => {
      const facts = join(installed('cuda'), 'lorekeep-plugin.json');
      appendFileSync(join(installed('vulkan'), 'libggml-vulkan.so'), 'x');
      writeFileSync(facts, readFileSync(facts, 'utf8').replace(/"ggml": "[^"]+"/, '"ggml": "0.0.1"'));
      expect(candidates()).toEqual({
        cuda: 'other version',
        vulkan: 'failed',
        hip: 'not tried',
        cpu: 'chosen',
      });
    });
  });

  test('has types that a strict project without the types of Node.js compiles against', () => {
    const project = folder('consumer');
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin',
      'tsc',
    );
    const compile = (source: string, skipLibCheck: boolean) => {
      writeFileSync(join(project, 'typed.ts'), source);
      const options = ['--noEmit', '--strict', '--module', 'NodeNext', '--target', 'ES2022', '--types', ''];
      const all = [compiler, ...options, '--skipLibCheck', String(skipLibCheck), 'typed.ts'];
      execFileSync(process.execPath, all, { cwd: project, encoding: 'utf8' });
    };
    compile(
      `import { type EmbeddingModel, LorekeepError, type VectorIndex } from 'lorekeep';
import { CatalogModels, createStorage } from 'lorekeep/knowledge-base';
export const tokens = (error: unknown): number =>
  error instanceof LorekeepError && error.code === 'TEXT_TOO_LONG' ? error.detail.tokens : 0;
export const size = (index: VectorIndex): number => index.size;
export const find = async (model: EmbeddingModel, text: string) => {
  await using models = await CatalogModels.open();
  await using storage = await createStorage({ strings: [...models.names], model });
  return (await storage.search({ text })).hits;
};
`,
      false,
    );
    // Its declarations import declarations of libraries that need the types of Node.js.
    compile(
      `import { connect } from 'lorekeep/client';
export const ping = async () => {
  await using client = await connect();
  await client.ping();
};
`,
      true,
    );
  });

  test('has a command-line program', () => {
    const program = join(folder('consumer'), 'node_modules', '.bin', 'lorekeep');
    const output = execFileSync(process.execPath, [program, '--help'], {
      encoding: 'utf8',
      env: bareEnvironment(),
    });
    expect(output).toContain('lorekeep');
  });
});

describe.runIf(process.platform === 'linux')('the prebuild', () => {
  const prebuild = join(root, 'prebuilds', platform);
  const libraries = () =>
    readdirSync(prebuild).filter((name) => !['SHA256SUMS', 'production'].includes(name));
  const dynamic = (name: string) =>
    execFileSync('readelf', ['-dW', join(prebuild, name)], { encoding: 'utf8' });

  test('finds its libraries in its own folder, under names that no other package has', () => {
    const names = libraries();
    expect(names.filter((name) => name.endsWith('.node'))).toHaveLength(1);
    for (const name of names) {
      const needed = [...dynamic(name).matchAll(/\(NEEDED\).*\[(lib[^\]]*(?:llama|ggml)[^\]]*)\]/g)].map(
        (match) => match[1],
      );
      for (const library of needed) {
        expect(library).toContain(`lorekeep-${tarball.version}-`);
        expect(names, `${name} needs ${library}`).toContain(library);
      }
      // Unlike RUNPATH, it is stronger than LD_LIBRARY_PATH.
      expect(dynamic(name), name).toMatch(/\(RPATH\).*\[\$ORIGIN\]/);
    }
  });

  test('states the hash of every binary', () => {
    const stated = readFileSync(join(prebuild, 'SHA256SUMS'), 'utf8').trim().split('\n');
    const actual = libraries().map((name) => {
      const hash = createHash('sha256').update(readFileSync(join(prebuild, name)));
      return `${hash.digest('hex')}  ${name}`;
    });
    expect(stated.toSorted()).toEqual(actual.toSorted());
  });

  test('is stripped, and the addon exports what Node loads and nothing else', () => {
    const names = libraries();
    for (const name of names) {
      const sections = execFileSync('readelf', ['-SW', join(prebuild, name)], { encoding: 'utf8' });
      expect(sections, name).not.toMatch(/\.symtab|\.debug_info/);
    }
    const addon = names.find((name) => name.endsWith('.node')) ?? '';
    const symbols = execFileSync('nm', ['-D', '--defined-only', join(prebuild, addon)], { encoding: 'utf8' });
    const exported = symbols
      .trim()
      .split('\n')
      .map((line) => line.split(' ').at(-1) ?? '');
    expect(exported).toContain('napi_register_module_v1');
    expect(exported.filter((name) => /lorekeep|hnswlib|Napi/.test(name))).toEqual([]);
  });
});
