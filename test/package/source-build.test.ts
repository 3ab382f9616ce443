import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { bareEnvironment, install, npm, pack, root, runConsumer } from './packed.js';

const folder = temporaryFolder();

/** Takes minutes: it compiles llama.cpp from nothing. */
describe.runIf(process.env.LOREKEEP_TEST_SOURCE_BUILD)('the package on a platform without a prebuild', () => {
  test('runs with the addon that the source package compiles at installation', () => {
    const whole = pack(folder());
    execFileSync('tar', ['-xzf', whole.path, '-C', folder()]);
    rmSync(folder('package', 'prebuilds'), { recursive: true, force: true });
    mkdirSync(folder('bare'));
    const tarball = pack(folder('bare'), folder('package'));
    expect(tarball.files.filter((file) => file.path.startsWith('prebuilds/'))).toEqual([]);
    const args = [join(root, 'scripts', 'pack-source.mjs'), '--to', folder()];
    const source = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();

    const project = folder('consumer');
    install(tarball.path, project, process.env, '--ignore-scripts=false', source);
    const installed = join(project, 'node_modules', '@lorekeep', 'source');
    expect(existsSync(join(installed, '.cmake'))).toBe(false);
    expect(readdirSync(join(installed, 'build', 'Release'))).toContain('lorekeep.node');
    expect(runConsumer(project, bareEnvironment())).toEqual({ dense: 1, lexical: 2, backends: 1 });
    expect(npm(['ls', '--json'], project)).toContain('lorekeep');
  }, 1_800_000);
});
