import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { lorekeep, program, shell } from './command.js';

const inFolder = temporaryFolder();
const folder = "Größe's $HOME notes";
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  mkdirSync(inFolder(folder));
  writeFileSync(inFolder(folder, 'prices.md'), '# Prices\n\nA ticket for the ferry costs $5 on Tuesdays.\n');
  const bin = inFolder('bin', 'lorekeep');
  mkdirSync(dirname(bin));
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(bin, 0o755);
  env = { LOREKEEP_STATE: inFolder('state'), PATH: `${dirname(bin)}${delimiter}${process.env.PATH}` };
});

/** Runs the command at the end of the message, as if pasted into a shell. */
async function paste(message: string) {
  const [command = ''] = /lorekeep (?:index|search|check) .*/.exec(message) ?? [];
  return shell(command, { env, cwd: inFolder('.') });
}

it.skipIf(process.platform === 'win32')(
  'prints commands that a shell takes, whatever the names',
  async () => {
    const cwd = inFolder('.');
    const unindexed = await lorekeep(['search', folder, 'x'], { env, cwd });
    expect(unindexed.status).toBe(1);
    expect(await paste(unindexed.stderr)).toMatchObject({ status: 0, stderr: '' });

    const split = await lorekeep(['search', folder, 'costs', '$5', '"now"?'], { env, cwd });
    expect(split.status).toBe(2);
    const pasted = await paste(split.stderr);
    expect(pasted).toMatchObject({ status: 0, stderr: '' });
    expect(pasted.stdout).toContain('prices.md');

    const config = inFolder(folder, 'models.json');
    writeFileSync(config, '{"models": []}');
    const unreadable = await lorekeep(['inspect', config], { env, cwd });
    expect(unreadable.stderr).toContain('lorekeep check');
    expect((await paste(unreadable.stderr.replace(' looks at it', ''))).stdout).toContain('model catalog');
  },
);

it.skipIf(process.platform === 'win32')('names npx where npx started it', async () => {
  const bin = inFolder('npx', 'lorekeep');
  mkdirSync(dirname(bin));
  symlinkSync(join(dirname(program), 'lorekeep.cjs'), bin);
  const byNpx = { ...env, npm_command: 'exec' };
  const failed = await shell(`"${process.execPath}" "${bin}" search . text`, {
    env: byNpx,
    cwd: inFolder('npx'),
  });
  expect(failed.stderr).toContain('run: npx lorekeep index .');
  const flag = await shell(`"${process.execPath}" "${bin}" search --limit`, { env: byNpx });
  expect(flag.stderr).toContain('lorekeep search --help lists the flags');
});
