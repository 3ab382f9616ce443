import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dumpFolder } from '../../src/crash/dump-folder.js';
import { homeFolder } from '../../src/files/home.js';
import { lorekeep } from '../cli/command.js';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from '../server/program.js';
import { dumpsExist, dumpsIn, runToItsEnd, Walker } from './crash.js';

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

describe.runIf(dumpsExist)('lorekeep doctor --last-crash', () => {
  it('names signal, function and callers of the newest dump, with the symbols of the release', async () => {
    const walker = await Walker.create(inFolder('symbols'));
    mkdirSync(inFolder('explained', 'logs'), { recursive: true });
    const config = inFolder('explained', 'server-config.json');
    writeFileSync(config, JSON.stringify({ logs_dir: 'logs' }));
    const logs = inFolder('explained', 'logs');
    const { dumps } = await runToItsEnd('crash.mjs', [logs, 'segmentation-fault', 'pool']);
    const flags = ['doctor', '--last-crash', '--config', config];
    const { stdout: checked } = await lorekeep(['doctor', '--config', config]);
    expect(checked).toContain(`an earlier run crashed: ${dumps[0]}`);
    // Not those of `npm run prebuild`, which this checkout may have.
    mkdirSync(inFolder('no-symbols'));
    const plain = await lorekeep([...flags, '--symbols', inFolder('no-symbols')]);
    expect(plain.stdout).toContain(dumps[0]);
    expect(plain.stdout).toMatch(/^signal +SIGSEGV at 0x0: /m);
    expect(plain.stdout).toMatch(/^place +lorekeep(\.\w+)?\.node \+ 0x[0-9a-f]+$/m);
    const { stdout } = await lorekeep([...flags, '--symbols', walker.symbols, '--json']);
    const explained = JSON.parse(stdout) as { place: object; callers: { function?: string }[] };
    expect(explained).toMatchObject({ dump: dumps[0], signal: 'SIGSEGV', address: '0x0' });
    expect(JSON.stringify([explained.place, ...explained.callers])).toContain('lorekeep::crash::');
    expect(JSON.stringify(explained.callers)).toContain('lorekeep::ThreadPool::run');
  }, 900_000);

  it('says that there is none, and refuses what is no dump or a part of one', async () => {
    mkdirSync(inFolder('none'), { recursive: true });
    const config = inFolder('none', 'server-config.json');
    writeFileSync(config, JSON.stringify({ logs_dir: 'logs' }));
    const none = await lorekeep(['doctor', '--last-crash', '--config', config]);
    expect(none).toMatchObject({ status: 0, stdout: `no crash dump in ${inFolder('none', 'logs')}\n` });
    mkdirSync(inFolder('parts'), { recursive: true });
    const { dumps } = await runToItsEnd('crash.mjs', [inFolder('parts'), 'abort', 'calling']);
    const whole = readFileSync(dumps[0] as string);
    const lengths = [0, 3, 4, 20, 31, 100, 1000, 5000, Math.floor(whole.length / 2)];
    for (const length of lengths) {
      const part = join(inFolder('parts'), 'part.dmp');
      writeFileSync(part, whole.subarray(0, length));
      const { status, stderr } = await lorekeep(['doctor', '--last-crash', part]);
      expect({ status, length, stderr }).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('is not a crash dump: it is'),
      });
    }
    const absent = await lorekeep(['doctor', '--last-crash', inFolder('absent.dmp')]);
    expect(absent).toMatchObject({ status: 1, stderr: expect.stringContaining('ENOENT') });
  });
});
