import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { bareEnvironment, install, npm, pack, runConsumer } from './packed.js';

const folder = temporaryFolder();

/** Takes minutes: it compiles llama.cpp from nothing. */
describe.runIf(process.env.LOREKEEP_TEST_SOURCE_BUILD)('the package on a platform without a prebuild', () => {
  test('builds from the sources that it carries', () => {
    const unpacked = folder('unpacked');
    const whole = pack(folder());
    install(whole.path, unpacked, process.env, '--ignore-scripts');
    const bare = join(unpacked, 'node_modules', 'lorekeep');
    rmSync(join(bare, 'prebuilds'), { recursive: true, force: true });
    const tarball = pack(unpacked, bare);
    expect(tarball.files.filter((file) => file.path.startsWith('prebuilds/'))).toEqual([]);

    const project = folder('consumer');
    install(tarball.path, project, process.env, '--ignore-scripts=false');
    const installed = join(project, 'node_modules', 'lorekeep');
    expect(existsSync(join(installed, '.cmake'))).toBe(false);
    expect(readdirSync(join(installed, 'build', 'Release'))).toContain('lorekeep.node');
    expect(runConsumer(project, bareEnvironment())).toEqual({ dense: 1, lexical: 2, backends: 1 });
    expect(npm(['ls', '--json'], project)).toContain('lorekeep');
  }, 1_800_000);
});
