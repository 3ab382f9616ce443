import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { expectExample, expectScenarios, turkishLocale } from './world.js';

const file = temporaryFolder();
const folder = join(import.meta.dirname, '../../clients/godot');

/** Godot 3 without a display. It tells its version with an exit code that is not 0. */
function findGodot(): string | undefined {
  const version = (name: string) => spawnSync(name, ['--version'], { encoding: 'utf8' }).stdout ?? '';
  return ['godot3-server', 'godot-server'].find((name) => version(name).startsWith('3.'));
}

const godot = findGodot() ?? '';
if (godot === '') console.log('skipped: the client for Godot: there is no godot3-server');

/** A project with the client, and the environment in which Godot writes nowhere else. */
function makeProject(): Record<string, string> {
  mkdirSync(file('project'), { recursive: true });
  mkdirSync(file('home'), { recursive: true });
  writeFileSync(file('project', 'project.godot'), 'config_version=4\n');
  copyFileSync(join(folder, 'lorekeep.gd'), file('project', 'lorekeep.gd'));
  return {
    HOME: file('home'),
    XDG_DATA_HOME: file('home'),
    XDG_CONFIG_HOME: file('home'),
    XDG_CACHE_HOME: file('home'),
  };
}

/** Runs a script of the project. Godot would take other arguments for names of scenes. */
const command = (script: string) =>
  ['sh', '-c', `LOREKEEP_ARGS="$*" exec ${godot} --path ${file('project')} -s ${script}`, 'sh'] as const;

const hasParser = spawnSync('gdparse', ['--version']).status === 0;
if (!hasParser) console.log('skipped: the client for Godot 4: there is no gdparse (gdtoolkit 4)');

it.skipIf(!hasParser)('the client for Godot 4 is GDScript of Godot 4', () => {
  expect(spawnSync('gdparse', [join(folder, 'lorekeep4.gd')], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  });
});

describe.skipIf(godot === '')('the client for Godot 3', () => {
  it('passes every scenario', async () => {
    const env = makeProject();
    copyFileSync(join(folder, 'test', 'scenarios.gd'), file('project', 'scenarios.gd'));
    await expectScenarios(command('scenarios.gd'), { ...env, ...turkishLocale() });
  });

  it('runs the program of the documentation', async () => {
    const env = makeProject();
    await expectExample('gdscript', file('project', 'example.gd'), () => command('example.gd'), env);
  });
});
