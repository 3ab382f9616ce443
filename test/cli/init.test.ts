import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from '../server/program.js';
import { shell } from './command.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();

describe.skipIf(process.platform === 'win32')('lorekeep init', () => {
  it('makes a folder in which the commands that it names work as they stand', async () => {
    const folder = inFolder("a new user's folder");
    const { status, stdout } = await lorekeep(['init', folder]);
    expect(status).toBe(0);
    const [cd, build, search, serve, ask] = stdout
      .split('\n')
      .filter((line) => /^ {2}(cd|node|npx|lorekeep) /.test(line))
      .map((line) => line.trim());
    expect(serve).toMatch(/serve --config server-config\.json$/);
    const built = await shell(`${cd} && ${build} && ${search}`);
    expect(built.status, built.stderr).toBe(0);
    expect(built.stdout).toMatch(/12 records in/);
    expect(built.stdout).toMatch(/^1 .* lighthouse\/keeper .*\[lamp\]/ms);

    const server = Program.run(
      'dist/src/cli/main.js',
      'serve',
      '--config',
      `${folder}/server-config.json`,
      '--port',
      '0',
    );
    const [, port] = await server.printed(/"port":(\d+)/);
    const asked = await shell(`${ask}`, { env: { LOREKEEP_PORT: port } });
    expect(asked.stdout, asked.stderr).toMatch(/^1 .* lighthouse\/keeper /m);
    server.child.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);

    const checks = await shell(`${cd} && ${(build as string).split(' build ')[0]} check server-config.json`);
    expect(checks.stdout).toMatch(/: ok$/m);
    const verified = await shell(`${cd} && ${(build as string).split(' build ')[0]} check`);
    expect(verified.stdout).toMatch(/^note: .*"all-MiniLM-L6-v2": \d+ texts: the same tokens/m);
    expect(readFileSync(`${folder}/README.md`, 'utf8')).toContain(search);
  });

  it('lists models of every type to download, verified or marked', async () => {
    const folder = inFolder('models');
    await lorekeep(['init', folder]);
    const config = `${folder}/server-config.json`;
    const { status, stdout } = await lorekeep(['models', 'list', '--config', config, '--json']);
    expect(status).toBe(0);
    const { models } = JSON.parse(stdout) as { models: { name: string; type: string; state: string }[] };
    const types = models.map(({ type }) => type);
    expect(types.filter((type) => type === 'llm')).toHaveLength(3);
    expect(new Set(types)).toEqual(new Set(['embedding', 'llm', 'reranker', 'vad', 'stt']));
    const present = models.filter(({ state }) => state === 'present');
    expect(present.map(({ name }) => name)).toEqual(['all-MiniLM-L6-v2', 'Silero VAD']);
    const catalog = JSON.parse(readFileSync(`${folder}/models.json`, 'utf8'));
    for (const { name, license, variants } of catalog.models) {
      expect(license, name).toBeTruthy();
      for (const { sha256, size_bytes, note } of variants)
        expect((sha256 && size_bytes) || note, name).toBeTruthy();
    }
    const arctic = await lorekeep(['models', 'show', 'snowflake-arctic-embed-xs', '--config', config]);
    expect(arctic.stdout).toContain('pooling: cls');
    expect(arctic.stdout).toContain('query_prefix: Represent this sentence');
    expect(arctic.stdout).toMatch(/one public source and were not verified/);
  });

  it('overwrites nothing', async () => {
    const folder = inFolder('there');
    await lorekeep(['init', folder]);
    writeFileSync(`${folder}/models.json`, 'mine');
    const before = readdirSync(folder);
    const { status, stderr } = await lorekeep(['init', folder]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/would overwrite .*models\.json/);
    expect(readFileSync(`${folder}/models.json`, 'utf8')).toBe('mine');
    expect(readdirSync(folder)).toEqual(before);
    const file = await lorekeep(['init', `${folder}/models.json`]);
    expect(file.stderr).toContain('is a file; a folder is expected');
  });

  it('takes a folder with other files, spaces, quotes and Unicode in its name', async () => {
    const folder = inFolder('ü ñ 世界 "quoted"');
    mkdirSync(folder);
    writeFileSync(join(folder, 'other.txt'), 'mine');
    expect((await lorekeep(['init', '.'], { cwd: folder })).status).toBe(0);
    expect(readdirSync(folder)).toContain('other.txt');
    const checked = await lorekeep(['check', join(folder, 'server-config.json')]);
    expect(checked.stdout).toMatch(/: ok$/m);
  });

  it('leaves nothing behind when it cannot write all of it', async () => {
    const folder = inFolder('half');
    mkdirSync(folder);
    writeFileSync(join(folder, 'knowledge'), 'a file where a folder is needed');
    const { status, stderr } = await lorekeep(['init', folder]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^lorekeep: .*half: cannot be written: .*knowledge.*\n$/);
    expect(readdirSync(folder)).toEqual(['knowledge']);
  });

  it('refuses a name that is none', async () => {
    const { status, stderr } = await lorekeep(['init', '']);
    expect([status, stderr]).toEqual([
      2,
      'lorekeep: folder: a name is expected; . is the folder that you are in\n',
    ]);
  });

  it.runIf(process.platform === 'linux')('ends where the file system takes no folders', async () => {
    const { status, stderr } = await lorekeep(['init', '/proc/lorekeep-absent/x']);
    expect(status).toBe(1);
    expect(stderr).toContain('/proc/lorekeep-absent/x: cannot be written: ');
  });
});
