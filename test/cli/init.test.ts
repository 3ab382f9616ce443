import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from '../server/program.js';
import { lorekeep, shell } from './command.js';

const inFolder = temporaryFolder();

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
    expect(checks.stdout).toMatch(/all right/);
    expect(readFileSync(`${folder}/README.md`, 'utf8')).toContain(search);
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
});
