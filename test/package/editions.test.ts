import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/file.js';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from '../server/program.js';
import { RawClient } from '../server/raw-client.js';
import { npm, root } from './packed.js';

type Edition = 'development' | 'production';

const folder = temporaryFolder();
const editions: Edition[] = ['development', 'production'];
const paths = {} as Record<Edition, string[]>;

beforeAll(() => {
  for (const edition of editions) {
    const to = folder(edition);
    const pack = [join(root, 'scripts', 'pack.mjs'), '--edition', edition, '--without-models', '--to', to];
    const archive = execFileSync(process.execPath, pack, { encoding: 'utf8' }).trim();
    execFileSync('tar', ['-xzf', archive, '-C', to]);
    paths[edition] = readdirSync(join(to, 'package'), { recursive: true, encoding: 'utf8' });
    symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'));
    if (!paths[edition].some(isAddon)) throw new Error('there is no prebuild: run `npm run prebuild`');
  }
}, 900_000);

const isAddon = (path: string) => path.endsWith('.node');

/** Contents of the addons and scripts that an edition runs, by path. */
function programs(edition: Edition): [path: string, content: Buffer][] {
  const folderOf = folder(edition, 'package');
  const all = readdirSync(folderOf, { recursive: true, encoding: 'utf8' });
  return all
    .filter((path) => isAddon(path) || (path.startsWith('dist/') && /\.c?js$/.test(path)))
    .map((path) => [path, readFileSync(join(folderOf, path))]);
}

const file = (edition: Edition, path: string) => readFileSync(folder(edition, 'package', path), 'utf8');

describe('the package', () => {
  test('of production has no monitor, no debug commands, no samples; development has them', () => {
    for (const part of ['dist/src/operations/monitor', 'examples', 'docs', 'clients']) {
      expect(paths.development, part).toContain(part);
      expect(paths.production.filter((path) => path.startsWith(part))).toEqual([]);
    }
    const ofDevelopment =
      /^\/\/ (src\/(operations\/(monitor|debug)|server\/development)|lib\/os\/(forced-crash|long-steps))/m;
    const withModules = (edition: Edition) =>
      programs(edition).filter(([path, content]) => !isAddon(path) && ofDevelopment.test(content.toString()));
    expect(withModules('development')).not.toEqual([]);
    expect(withModules('production')).toEqual([]);
    expect(paths.production).not.toContain('data/server-config.development.json');
  });

  test('of production has no code, native or not, that crashes on request or serves debug commands', () => {
    const withWords = (edition: Edition, word: string) =>
      programs(edition)
        .filter(([, content]) => content.includes(word))
        .map(([path]) => path);
    for (const word of ['forceCrash', 'segmentation-fault']) {
      // Both addons were looked into.
      expect(withWords('development', word).filter(isAddon), word).toHaveLength(1);
      expect(withWords('production', word), word).toEqual([]);
    }
    expect(programs('production').filter(([path]) => isAddon(path))).toHaveLength(1);
    for (const word of ['DebugCommandResponse', 'too many pages are open']) {
      expect(withWords('development', word), word).not.toEqual([]);
      expect(withWords('production', word), word).toEqual([]);
    }
  });

  test.each(editions)('of %s has what runs, and nothing of a developer', (edition) => {
    for (const path of ['dist/lib/index.js', 'dist/src/cli/lorekeep.cjs', 'licenses/Unicode-3.0.txt'])
      expect(paths[edition]).toContain(path);
    const unwanted =
      /^(test|src|lib|bench|web|tools|scripts|symbols|\.cmake|\.cache|\.git|data\/logs|data\/\.)(\/|$)|\.sym$/;
    expect(paths[edition].filter((path) => unwanted.test(path))).toEqual([]);
    expect(paths[edition].filter((path) => /^native\/.*\.(cc?|hpp?)$/.test(path))).toEqual([]);
  });

  test.each(editions)('of %s can be made without models', (edition) => {
    expect(paths[edition]).toContain('data/models.json');
    expect(paths[edition].filter((path) => path.endsWith('.gguf'))).toEqual([]);
  });

  test('of production imports no file that it lacks', () => {
    const modules = paths.production.filter((path) => path.startsWith('dist/') && path.endsWith('.js'));
    expect(modules.length).toBeGreaterThan(100);
    const lacking: string[] = [];
    for (const path of modules) {
      for (const [, imported = ''] of file('production', path).matchAll(
        /^(?:import|export)\b[^'";]*['"](\.[^'"]*)['"];/gm,
      )) {
        const target = join(dirname(path), imported);
        if (!paths.production.includes(target)) lacking.push(`${path}: ${imported}`);
      }
    }
    expect(lacking).toEqual([]);
  });

  test('of production starts, leaves monitor and debug commands off, and does not know their frame', async () => {
    const config = { port: 0, logs_dir: '', monitor: { enabled: true }, debug_commands: { enabled: true } };
    mkdirSync(folder('run'), { recursive: true });
    writeFileSync(folder('run', 'server-config.json'), JSON.stringify(config));
    const cli = folder('production', 'package', 'dist', 'src', 'cli', 'main.js');
    const program = Program.command([
      process.execPath,
      cli,
      'serve',
      '--config',
      folder('run', 'server-config.json'),
    ]);
    const port = Number((await program.printed(/"port":(\d+)/))[1]);
    for (const field of ['monitor.enabled', 'debug_commands.enabled'])
      expect(program.stdout).toContain(`${field}: is not part of the production edition and stays off`);
    expect(program.stdout).not.toContain('"msg":"monitor"');
    const raw = await RawClient.connect(port);
    const request = { type: 'DebugCommandRequest', id: 1, session_id: 's1', command: 'commands' };
    expect(await raw.request(request)).toMatchObject({ type: 'Error', code: 1002 });
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});

test('prebuilds of production get the addon of that edition, and the hashes of what they have', async () => {
  const { placeProductionAddons } = await import(join(root, 'scripts', 'pack', 'addons.mjs'));
  const write = (path: string[], content: string) => {
    mkdirSync(dirname(folder('addons', ...path)), { recursive: true });
    writeFileSync(folder('addons', ...path), content);
  };
  write(['prebuilds', 'one', 'production', 'lorekeep.glibc.node'], 'quiet');
  write(['prebuilds', 'one', 'production', 'SHA256SUMS'], 'sums of that folder');
  write(['staged', 'one', 'libllama.so'], 'a library');
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const [prebuilds, staged] = [folder('addons', 'prebuilds'), folder('addons', 'staged')];
  placeProductionAddons(prebuilds, staged);
  expect(readFileSync(join(staged, 'one', 'lorekeep.glibc.node'), 'utf8')).toBe('quiet');
  expect(readFileSync(join(staged, 'one', 'SHA256SUMS'), 'utf8')).toBe(
    `${hash('a library')}  libllama.so\n${hash('quiet')}  lorekeep.glibc.node\n`,
  );
  expect(readFileSync(join(prebuilds, 'one', 'production', 'SHA256SUMS'), 'utf8')).toBe(
    'sums of that folder',
  );
  mkdirSync(folder('addons', 'prebuilds', 'two'));
  expect(() => placeProductionAddons(prebuilds, staged)).toThrow(
    /two has no addon of the production edition/,
  );
});

describe('the shipped config', () => {
  const shipped = (edition: Edition, name: string) => {
    const parsed = parseConfig(name, file(edition, name));
    expect(parsed.problems).toEqual([]);
    return JSON.parse(file(edition, name)) as Record<string, unknown>;
  };

  test("of development is the specification's", () => {
    expect(shipped('development', 'data/server-config.development.json')).toEqual({
      $schema: '../schemas/server-config.schema.json',
      logs_dir: '.app-data/logs',
      models_download_dir: '.app-data/models',
      log_mode: 'dev',
      log_level: 'trace',
      include_interaction_in_diagnostics: true,
      engines: { llm_engine: { backend: 'vulkan' } },
    });
    // Not at the default place: an installed package is quiet.
    expect(paths.development).not.toContain('data/server-config.json');
  });

  test('of production has quiet values, the default paths, and the same backend', () => {
    const { config } = parseConfig('x', file('production', 'data/server-config.json'));
    expect(shipped('production', 'data/server-config.json')).toMatchObject({
      log_mode: 'production',
      log_level: 'info',
      include_interaction_in_diagnostics: false,
      include_engine_diagnostics: false,
      engines: { llm_engine: { backend: 'vulkan' } },
    });
    expect(config).toMatchObject({ monitor: { enabled: false }, debug_commands: { enabled: false } });
  });
});

interface Component {
  'bom-ref': string;
  type: string;
  name: string;
  version: string;
  licenses: unknown[];
}

interface Tree {
  dependencies?: Record<string, Tree & { version?: string }>;
}

/** The packages of a tree that `npm ls` prints. */
function namesIn({ dependencies = {} }: Tree): Set<string> {
  const names = new Set<string>();
  for (const [name, tree] of Object.entries(dependencies)) {
    if (tree.version !== undefined) names.add(`${name}@${tree.version}`);
    for (const below of namesIn(tree)) names.add(below);
  }
  return names;
}

describe.each(editions)('the bill of materials of %s', (edition) => {
  const sbom = () =>
    JSON.parse(file(edition, 'sbom.cdx.json')) as {
      bomFormat: string;
      specVersion: string;
      serialNumber: string;
      components: Component[];
      dependencies: { ref: string; dependsOn: string[] }[];
    };

  test('is CycloneDX, each component with a version and a licence', () => {
    const { bomFormat, specVersion, serialNumber, components, dependencies } = sbom();
    expect({ bomFormat, specVersion }).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    for (const { name, version, licenses } of components)
      expect({ name, version, licences: licenses.length }).toMatchObject({
        version: expect.stringMatching(/./),
        licences: 1,
      });
    const references = components.map((component) => component['bom-ref']);
    expect(new Set(references).size).toBe(references.length);
    expect(dependencies[0]?.dependsOn).toEqual(references);
  });

  test('names the packages that npm would install, and every vendored source', () => {
    const { components } = sbom();
    const tree = JSON.parse(
      npm(['ls', '--omit=dev', '--all', '--package-lock-only', '--json'], root),
    ) as Tree;
    const ours = components.filter((component) => component['bom-ref'].startsWith('pkg:npm/'));
    // The pages contain Preact, another file the SDK of MCP, and the tarball their licences.
    const bundled = ours.filter(({ name }) => name === 'preact' || name.startsWith('@modelcontextprotocol/'));
    expect(bundled).toHaveLength(3);
    expect(file(edition, 'licenses/preact-MIT.txt')).toMatch(/Permission is hereby granted/);
    expect(file(edition, 'licenses/mcp-Apache-2.0.txt')).toMatch(/Apache License/);
    const installed = ours.filter((component) => !bundled.includes(component));
    expect(installed.map(({ name, version }) => `${name}@${version}`).sort()).toEqual(
      [...namesIn(tree)].sort(),
    );
    const manifest = JSON.parse(readFileSync(join(root, 'scripts/vendor/manifest.json'), 'utf8')) as {
      sources: { name: string; onlyFor?: string; onDemand?: boolean }[];
    };
    // Plugins are in packages of their own.
    for (const { name, onlyFor, onDemand = false } of manifest.sources)
      expect(components.some((component) => component.name === name)).toBe(onlyFor !== 'test' && !onDemand);
    // The licence list has the same packages.
    for (const { name } of components) expect(file(edition, 'THIRD_PARTY.md')).toContain(name);
  });
});
