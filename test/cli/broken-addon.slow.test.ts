import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { platform } from '../../lib/boundary/addon-files.js';
import { packageVersion } from '../../src/base/files/home.js';
import { temporaryFolder } from '../helpers/folder.js';

const project = join(import.meta.dirname, '../..');
const inFolder = temporaryFolder();
const own = join(project, 'build/Release');
const place = () => inFolder('lorekeep');
const built = (...names: string[]) => join(place(), 'build/Release', ...names);

interface Result {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command of the copied package. */
function run(args: string[], env: NodeJS.ProcessEnv = {}): Result {
  return spawnSync(process.execPath, [join(place(), 'dist/src/cli/lorekeep.cjs'), ...args], {
    encoding: 'utf8',
    cwd: inFolder(),
    env: { ...process.env, ...env },
  });
}

interface Report {
  ok: boolean;
  findings: { subject: string; status: string; message: string; fix?: string }[];
  addon: { remedy: string; tried: { file: string; reason: string | null }[] } & Record<string, unknown>;
}

/** The report of `lorekeep doctor --json`, after the properties that every such report has. */
function doctor(env: NodeJS.ProcessEnv = {}): Report {
  const config = inFolder('server-config.json');
  writeFileSync(config, JSON.stringify({ port: 0, logs_dir: 'logs' }));
  const { status, stdout, stderr } = run(['doctor', '--config', config, '--json'], env);
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  const report = JSON.parse(stdout) as Report;
  expect(report.ok).toBe(false);
  expect(report.addon).toMatchObject({
    platform: process.platform,
    arch: process.arch,
    node: process.versions.node,
  });
  for (const subject of ['addon', 'tried', 'platform', 'libc', 'compiler', 'CMake', 'catalog', 'port'])
    expect(report.findings.map((finding) => finding.subject)).toContain(subject);
  expect(report.findings.find(({ subject }) => subject === 'addon')?.fix).toBe(report.addon.remedy);
  return report;
}

/** Puts the addon and its libraries into build/Release. */
function addBuild(): void {
  cpSync(own, built(), { recursive: true });
}

function truncate(path: string, share: number): void {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share)));
}

beforeAll(() => {
  const isCode = (path: string) => !/\.(?:d\.c?ts|map)$/.test(path);
  cpSync(join(project, 'dist'), join(place(), 'dist'), { recursive: true, filter: isCode });
  cpSync(join(project, 'package.json'), join(place(), 'package.json'));
  cpSync(join(project, 'data'), join(place(), 'data'), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(place(), 'node_modules'));
});

beforeEach(() => rmSync(join(place(), 'build'), { recursive: true, force: true }));

describe('lorekeep without its addon', () => {
  it('reports the machine and the way to build it, as a table and as JSON', () => {
    const { addon } = doctor();
    expect(addon.tried).toEqual([]);
    expect(addon.remedy).toMatch(/run `npm install @lorekeep\/source@[\d.]+`/);
    const { status, stdout, stderr } = run(['doctor']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(stdout).toMatch(/^FAILED {3}addon +there is none for .*\n +-> .*npm install @lorekeep\/source/m);
    expect(stdout).toMatch(new RegExp(`^ok +platform +${platform}$`, 'm'));
    expect(stdout).toMatch(/^\d+ failures/m);
  });

  it.skipIf(process.platform === 'win32')('names the tools that a build lacks', () => {
    const { addon } = doctor({ PATH: inFolder('nothing'), CXX: '' });
    expect(addon).toMatchObject({ compiler: null, cmake: null });
    expect(addon.remedy).toMatch(
      /^install a C\+\+20 compiler and CMake, then run `npm install @lorekeep\/source/,
    );
  });

  it('ends every other command with one message that names doctor', () => {
    writeFileSync(inFolder('kb.json'), '{}');
    const commands = [
      ['search', 'kb.json', 'x'],
      ['build', 'kb.json'],
      ['index', 'lorekeep/data'],
      ['check', 'kb.json'],
      ['ask', 'kb.json', 'x'],
      ['chat'],
      ['run', 'm.gguf', 'x'],
      ['eval', 'kb.json', 'q.jsonl'],
      ['serve', '--port', '0'],
    ];
    for (const command of commands) {
      const { status, stdout, stderr } = run(command);
      expect({ status, stdout }, command.join(' ')).toEqual({ status: 1, stdout: '' });
      expect(stderr, command.join(' ')).toMatch(
        /^lorekeep: native addon: [^\n]*`npx lorekeep doctor`[^\n]*\n$/,
      );
    }
  });
});

/** Libraries carry the version of the package. */
const llama = `liblorekeep-${packageVersion}-llama.so`;

describe('lorekeep with an addon that does not load', () => {
  it.runIf(process.platform === 'linux')('recognises a truncated file, which would end the process', () => {
    for (const [name, share] of [
      ['lorekeep.node', 0.4],
      [llama, 0.4],
      ['lorekeep.node', 0.99],
    ] as const) {
      addBuild();
      truncate(built(name), share);
      const { addon } = doctor();
      expect(addon.tried).toEqual([{ file: built('lorekeep.node'), reason: expect.stringContaining(name) }]);
      expect(addon.tried[0]?.reason).toContain('is truncated');
      expect(addon.remedy).toContain('run `npm install` again');
      expect(run(['search', 'x'])).toMatchObject({ status: 1, stderr: expect.stringContaining('truncated') });
    }
  });

  it.runIf(process.platform === 'linux')('names its own library that is missing', () => {
    addBuild();
    rmSync(built(llama));
    const { addon } = doctor();
    expect(addon.tried[0]?.reason).toContain(`the shared library ${llama} is missing`);
    expect(addon.remedy).toContain('run `npm install` again');
  });

  it('names the CPU plugin that is missing', () => {
    addBuild();
    for (const name of readdirSync(built())) if (name.includes('ggml-cpu')) rmSync(built(name));
    const { addon } = doctor();
    expect(addon.remedy).toContain('run `npm install` again');
  });

  it.runIf(process.platform === 'linux')("names a library of the system's that is missing", () => {
    mkdirSync(built(), { recursive: true });
    const folder = inFolder('library');
    mkdirSync(folder);
    writeFileSync(join(folder, 'one.c'), 'int one(void) { return 1; }');
    writeFileSync(join(folder, 'two.c'), 'int one(void); int two(void) { return one(); }');
    execFileSync('cc', ['-shared', '-fPIC', 'one.c', '-o', 'libone.so'], { cwd: folder });
    execFileSync('cc', ['-shared', '-fPIC', 'two.c', '-L.', '-lone', '-o', built('lorekeep.node')], {
      cwd: folder,
    });
    expect(doctor().addon.remedy).toBe('install the package of this system that has libone.so');
  });

  it('recognises a file of another system, and a file that is no addon of this build', () => {
    mkdirSync(built(), { recursive: true });
    writeFileSync(built('lorekeep.node'), 'no library at all '.repeat(20));
    expect(doctor().addon.tried[0]?.reason).toMatch(/damaged, or was built for another/);
  });

  it.runIf(process.platform === 'linux')('survives an addon that ends the process that loads it', () => {
    mkdirSync(built(), { recursive: true });
    const source = inFolder('crash.c');
    writeFileSync(
      source,
      '#include <stdlib.h>\n__attribute__((constructor)) static void end(void) { abort(); }',
    );
    execFileSync('cc', ['-shared', '-fPIC', source, '-o', built('lorekeep.node')]);
    expect(doctor().addon.tried[0]?.reason).toBe('loading it ends the process (SIGABRT)');
  });

  it('prefers a prebuild that loads to a broken build, and says what to remove', () => {
    addBuild();
    const prebuild = join(place(), 'prebuilds', platform);
    cpSync(built(), prebuild, { recursive: true });
    writeFileSync(built('lorekeep.node'), 'broken'.repeat(20));
    const { addon } = doctor();
    rmSync(join(place(), 'prebuilds'), { recursive: true });
    expect(addon.tried.map(({ reason }) => reason === null)).toEqual([false, true]);
    expect(addon.remedy).toBe(`remove ${built()}: ${join(prebuild, 'lorekeep.node')} loads`);
  });

  it('checks more where it loads', () => {
    addBuild();
    const { stdout } = run(['doctor', '--json']);
    const { addon, findings } = JSON.parse(stdout) as Report;
    expect(addon).toBeUndefined();
    expect(findings.map(({ subject }) => subject)).toContain('processor');
  });
});
