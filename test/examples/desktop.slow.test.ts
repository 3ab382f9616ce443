import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { createInterface } from 'node:readline';
import { transform } from 'esbuild';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { installUpdates } from '../../examples/desktop/src/updates.js';
import { temporaryFolder } from '../helpers/folder.js';

const root = join(import.meta.dirname, '..', '..');
const example = join(root, 'examples', 'desktop');
const inFolder = temporaryFolder();
const readExample = (name: string) => readFileSync(join(example, name), 'utf8');

async function compile(source: string, target: string, format: 'esm' | 'cjs' = 'esm'): Promise<void> {
  const { code } = await transform(readExample(source), { loader: 'ts', format, target: 'node20' });
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
}

describe('the main process of examples/desktop', () => {
  const inApp = (...names: string[]) => inFolder('app', ...names);

  beforeAll(async () => {
    for (const name of ['main', 'assistant', 'updates'])
      await compile(`src/${name}.ts`, inApp('dist', 'src', `${name}.js`));
    cpSync(join(example, 'package.json'), inApp('package.json'));
    const electron = inApp('node_modules', 'electron');
    cpSync(join(import.meta.dirname, 'electron'), electron, { recursive: true });
    writeFileSync(join(electron, 'package.json'), JSON.stringify({ exports: './index.mjs' }));
    cpSync(join(electron, 'run.mjs'), inApp('run.mjs'));
    symlinkSync(root, inApp('node_modules', 'lorekeep'));
  });

  /** Runs the app with a user's folder; what it printed until it had nothing left to do, its server included. */
  const run = (...texts: string[]) =>
    execFileSync(process.execPath, ['run.mjs', ...texts], {
      cwd: inApp(),
      encoding: 'utf8',
      env: { ...process.env, USER_DATA: inFolder('user') },
    }).split('\n');

  it('starts a server, remembers in the user’s folder alone, and ends with its server', () => {
    mkdirSync(inFolder('user'));
    expect(run('My dog is called Rex.')).toEqual(['I have not heard of that.', 'quit', '']);
    expect(run('What is my dog called?')).toEqual(['My dog is called Rex.', 'quit', '']);
    expect(readdirSync(inFolder('user')).sort()).toEqual(['lorekeep', 'memory.secret']);
    expect(existsSync(inFolder('user', 'lorekeep', 'memories'))).toBe(true);
  });

  it('gives its page three functions, and no more', async () => {
    await compile('src/preload.cts', inFolder('preload.cjs'), 'cjs');
    const page: Record<string, unknown> = {};
    const electron = {
      contextBridge: { exposeInMainWorld: (key: string, api: unknown) => (page[key] = api) },
    };
    const load = new Function('require', 'module', 'exports', readFileSync(inFolder('preload.cjs'), 'utf8'));
    load(() => ({ ...electron, ipcRenderer: {} }), {}, {});
    expect(Object.keys(page)).toEqual(['assistant']);
    expect(Object.keys(page.assistant as object)).toEqual(['ask', 'stop', 'onPiece']);
  });

  it('ends the server before an update is installed', async () => {
    const steps: string[] = [];
    const updater = Object.assign(new EventEmitter(), {
      checkForUpdates: () => steps.push('checked'),
      quitAndInstall: () => steps.push('installed'),
    });
    const answers = [false, true];
    const ended = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      steps.push('ended');
    };
    installUpdates(updater, async () => answers.shift() === true, ended);
    updater.emit('update-downloaded');
    updater.emit('update-downloaded');
    await expect.poll(() => steps).toEqual(['checked', 'ended', 'installed']);
  });
});

interface Builder {
  readonly files: readonly string[];
  readonly asarUnpack: readonly string[];
  readonly electronFuses: Record<string, boolean>;
  readonly [os: string]: unknown;
}
interface Forge {
  readonly packagerConfig: {
    readonly asar: { readonly unpack: string };
    readonly ignore: readonly RegExp[];
  };
  readonly plugins: readonly { readonly fuses: Record<string, unknown> }[];
}

/** The config of Forge, with stand-ins for its packages. */
function forgeConfig(): Forge {
  const packages: Record<string, object> = {
    '@electron-forge/plugin-fuses': {
      FusesPlugin: class {
        constructor(readonly fuses: object) {}
      },
    },
    // The names of the fuses stand for their numbers.
    '@electron/fuses': {
      FuseVersion: { V1: '1' },
      FuseV1Options: new Proxy({}, { get: (_, name) => name }),
    },
  };
  const module = { exports: {} };
  const load = new Function('require', 'module', 'process', readExample('forge.config.cjs'));
  load((name: string) => packages[name], module, { env: {} });
  return module.exports as Forge;
}

/** As electron-builder and the archiver match, for which a dot is a letter as others are. */
const isMatch = (path: string, glob: string) => matchesGlob(path.replace(/(^|\/)\./g, '$1_'), glob);

/** Folders of a package and of all that it needs at run time, relative to the folder of node_modules. */
function installedPackages(): string[] {
  const found = new Set<string>();
  const add = (folder: string) => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies)) {
      const places = [folder, root].map((place) => join(place, 'node_modules', name));
      const nested = places.find((place) => existsSync(place)) as string;
      if (found.has(nested)) continue;
      found.add(nested);
      add(nested);
    }
  };
  add(root);
  return [...found].map((folder) => folder.slice(join(root, 'node_modules').length + 1)).sort();
}

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

/** Whether the operating system loads or runs a file: ELF, PE and Mach-O by their first bytes. */
function isNative(path: string): boolean {
  const bytes = Buffer.alloc(4);
  const file = openSync(path, 'r');
  readSync(file, bytes, 0, 4, 0);
  closeSync(file);
  const magic = bytes.toString('hex');
  return (
    magic === '7f454c46' ||
    magic.startsWith('4d5a') ||
    ['cffaedfe', 'cefaedfe', 'feedfacf', 'feedface', 'cafebabe'].includes(magic)
  );
}

/** The app as npm has installed it, with the prebuilds of two platforms. */
function installApp(to: string): void {
  for (const name of ['package.json', 'page/index.html', 'page/page.css'])
    cpSync(join(example, name), join(to, name));
  for (const name of ['main', 'assistant', 'updates']) {
    mkdirSync(join(to, 'dist', 'src'), { recursive: true });
    writeFileSync(join(to, 'dist', 'src', `${name}.js`), '');
  }
  const lorekeep = join(to, 'node_modules', 'lorekeep');
  for (const name of ['package.json', 'data', 'schemas', 'native/vendor/pdfjs-cmaps', 'docs/README.md'])
    cpSync(join(root, name), join(lorekeep, name), { recursive: true });
  const filter = (path: string) => !path.endsWith('.map');
  cpSync(join(root, 'dist'), join(lorekeep, 'dist'), { recursive: true, filter });
  const platform = `${process.platform}-${process.arch}`;
  for (const other of [platform, 'sunos-sparc'])
    cpSync(join(root, 'build', 'Release'), join(lorekeep, 'prebuilds', other), { recursive: true });
  for (const name of installedPackages())
    cpSync(join(root, 'node_modules', name), join(to, 'node_modules', name), { recursive: true });
}

/** The files that a packager takes: those of electron-builder on this platform. */
function packedFiles(app: string, config: Builder): string[] {
  const os = { darwin: 'mac', win32: 'win' }[process.platform as string] ?? 'linux';
  const patterns = [...config.files, ...(config[os] as Builder).files];
  // Production dependencies are taken without a pattern.
  const isIncluded = (path: string) =>
    path.startsWith('node_modules/') || patterns.some((glob) => isMatch(path, glob));
  const isExcluded = (path: string) =>
    patterns.some((glob) => glob.startsWith('!') && isMatch(path, glob.slice(1)));
  return filesOf(app).filter((path) => isIncluded(path) && !isExcluded(path));
}

/** Starts the server of a package; resolves with its first line, rejects with its log if it ends. */
async function startServerOf(lorekeep: string, dataDir: string): Promise<{ port: number }> {
  const command = [join(lorekeep, 'dist', 'src', 'cli', 'lorekeep.cjs'), 'serve', '--port', '0'];
  const server: ChildProcess = spawn(
    process.execPath,
    [...command, '--data-dir', dataDir, '--parent-pid', `${process.pid}`],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let log = '';
  server.stderr?.on('data', (text: Buffer) => {
    log += text.toString();
  });
  const ended = once(server, 'close');
  onTestFinished(async () => {
    server.kill('SIGTERM');
    await ended;
  });
  const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
  const first = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
  if (first === undefined) throw new Error(log);
  return JSON.parse(String(first[0]));
}

describe('the packaging rules of examples/desktop', () => {
  const builder = JSON.parse(readExample('electron-builder.json')) as Builder;
  const forge = forgeConfig();
  const app = inFolder('installed');
  let packed: string[] = [];

  beforeAll(() => {
    installApp(app);
    packed = packedFiles(app, builder);
  });

  const unpackedBy = (globs: readonly string[]) =>
    packed.filter((path) => globs.some((glob) => isMatch(path, glob)));

  it('leave outside the archive what a child process and the operating system open, and nothing of the app', () => {
    // Node.js runs the server, which imports its dependencies: none of them may be in an archive.
    const needed = packed.filter((path) => path.startsWith('node_modules/'));
    const natives = packed.filter((path) => isNative(join(app, path)));
    expect(natives.filter((path) => path.endsWith('/lorekeep.node'))).toHaveLength(1);
    expect(natives.filter((path) => !needed.includes(path))).toEqual([]);
    expect(unpackedBy(builder.asarUnpack)).toEqual(needed);
    expect(unpackedBy([forge.packagerConfig.asar.unpack])).toEqual(needed);
    expect(packed.filter((path) => !needed.includes(path))).toEqual([
      'dist/src/assistant.js',
      'dist/src/main.js',
      'dist/src/updates.js',
      'package.json',
      'page/index.html',
      'page/page.css',
    ]);
  });

  it('leave out documents and the binaries of other platforms', () => {
    const left = filesOf(app).filter((path) => !packed.includes(path));
    expect(left).toContain('node_modules/lorekeep/docs/README.md');
    expect(left).toContain('node_modules/lorekeep/prebuilds/sunos-sparc/lorekeep.node');
    const isIgnored = (path: string) => forge.packagerConfig.ignore.some((rule) => rule.test(`/${path}`));
    expect(isIgnored('node_modules/lorekeep/docs/README.md')).toBe(true);
    const sources = filesOf(example).filter((path) => !/^(package\.json|page\/.*\.(html|css))$/.test(path));
    expect(sources.filter((path) => !isIgnored(path))).toEqual(['entitlements.mac.plist']);
    expect(packed.filter(isIgnored)).toEqual([]);
  });

  it('keep the server whole: it starts from the unpacked files, and not without the addon', async () => {
    const copy = (name: string, globs: readonly string[]) => {
      for (const path of unpackedBy(globs)) {
        mkdirSync(dirname(inFolder(name, path)), { recursive: true });
        cpSync(join(app, path), inFolder(name, path));
      }
      return inFolder(name, 'node_modules', 'lorekeep');
    };
    const whole = copy('app.asar.unpacked', builder.asarUnpack);
    expect((await startServerOf(whole, inFolder('data'))).port).toBeGreaterThan(0);
    const alone = copy('alone', ['**/node_modules/lorekeep/{dist,data}/**', '**/lorekeep/package.json']);
    await expect(startServerOf(alone, inFolder('data'))).rejects.toThrow(/native addon: there is none/);
  });

  it('set the same fuses: the app may run as Node.js, which the server needs, and nothing else is open', () => {
    const { version, ...fuses } = forge.plugins[0]?.fuses ?? {};
    const named = Object.entries(builder.electronFuses).map(([name, on]) => [
      name[0]?.toUpperCase() + name.slice(1),
      on,
    ]);
    expect([version, fuses]).toEqual(['1', Object.fromEntries(named)]);
    expect(builder.electronFuses).toMatchObject({
      runAsNode: true,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      onlyLoadAppFromAsar: true,
    });
  });

  it('sign every kind of native file', () => {
    const { signExts } = builder.win as { signExts: string[] };
    expect(signExts).toEqual(['.node', '.dll']);
    for (const path of packed.filter((name) => isNative(join(app, name))))
      expect(path).toMatch(/\.(node|so|dylib|dll)$/);
    const { entitlements } = builder.mac as { entitlements: string };
    expect(statSync(join(example, entitlements)).size).toBeGreaterThan(0);
  });
});
