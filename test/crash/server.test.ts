import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { homeFolder } from '../../src/base/files/home.js';
import { dumpFolder } from '../../src/operations/crash/dump-folder.js';
import { lorekeep } from '../cli/command.js';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from '../server/program.js';
import { dumpsExist, dumpsIn } from './crash.js';

const inFolder = temporaryFolder();

/** Starts `lorekeep serve` with these fields. */
async function start(name: string, config: object): Promise<Program> {
  mkdirSync(inFolder(name), { recursive: true });
  const path = inFolder(name, 'server-config.json');
  writeFileSync(path, JSON.stringify({ port: 0, ...config }));
  return Program.run('dist/src/cli/main.js', 'serve', '--config', path);
}

describe.runIf(dumpsExist)('a server that crashes', () => {
  it('leaves a dump, and its next start says where it is', async () => {
    const config = { logs_dir: '', crash_dump: { dir: 'dumps' } };
    const first = await start('told', config);
    await first.printed(/"msg":"listening"/);
    expect(first.stdout).not.toContain('an earlier run crashed');
    first.child.kill('SIGSEGV');
    expect(await first.ended).toMatchObject({ signal: 'SIGSEGV' });
    const [dump = ''] = dumpsIn(inFolder('told', 'dumps'));
    expect(first.stderr).toContain(`the crash dump is ${dump}`);

    const second = await start('told', config);
    const [line] = await second.printed(/.*an earlier run crashed.*/);
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', dump });
    const path = inFolder('told', 'server-config.json');
    expect((await lorekeep(['doctor', '--config', path])).stdout).toContain(
      `an earlier run crashed: ${dump}`,
    );
    await second.printed(/"msg":"listening"/);
    second.child.kill('SIGTERM');
    expect(await second.ended).toEqual({ code: 0, signal: null });
    // A server that stops leaves none.
    expect(dumpsIn(inFolder('told', 'dumps'))).toEqual([dump]);
  });

  it('leaves it in logs_dir if crash_dump.dir is empty, and none if dumps are off', async () => {
    for (const enabled of [true, false]) {
      const name = `logs-${enabled}`;
      const program = await start(name, { logs_dir: 'logs', crash_dump: { enabled } });
      await program.printed(/"msg":"listening"/);
      program.child.kill('SIGABRT');
      expect(await program.ended).toMatchObject({ signal: 'SIGABRT' });
      expect(dumpsIn(inFolder(name, 'logs'))).toHaveLength(enabled ? 1 : 0);
    }
  });
});

it('dumps go to crash_dump.dir, else to logs_dir, else to the folder of the package', () => {
  const folder = (dir: string, logs_dir: string) =>
    dumpFolder({ crash_dump: { enabled: true, dir }, logs_dir });
  expect([folder('/dumps', '/logs'), folder('', '/logs'), folder('', '')]).toEqual([
    '/dumps',
    '/logs',
    homeFolder,
  ]);
});
