import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { testSeed } from '../helpers/random.js';
import { expectExample, expectScenarios } from './world.js';

const file = temporaryFolder();
const folder = join(import.meta.dirname, '../../clients/csharp');

function hasMono(): boolean {
  try {
    for (const program of ['mcs', 'mono']) execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const skipped = !hasMono();
if (skipped)
  console.log('skipped: the client in C#: Mono is not there (mono-mcs, libmono-system-core4.0-cil)');

const sources = [folder, join(folder, 'optional')].flatMap((from) =>
  readdirSync(from)
    .filter((name) => name.endsWith('.cs') && name !== 'LorekeepBehaviour.cs')
    .map((name) => join(from, name)),
);

/** Compiles a program with the client, as C# 7; its path. */
function compiled(source: string, name: string): string {
  const path = file(`${name}.exe`);
  const strict = ['-langversion:7', '-warn:4', '-warnaserror'];
  execFileSync('mcs', [...strict, `-out:${path}`, source, ...sources], { stdio: 'inherit' });
  return path;
}

// Decimal commas, and an I whose lower case has no dot.
describe.skipIf(skipped)('the client in C#', () => {
  it.each([
    ['polled', 'tr-TR'],
    ['threads', 'de-DE'],
  ])('passes every scenario: %s, %s', async (mode, culture) => {
    const program = compiled(join(folder, 'test', 'Scenarios.cs'), mode);
    await expectScenarios(['mono', program, mode, culture, `${testSeed}`]);
  });

  it('fits into the player loop of Unity, whose classes are declared here', () => {
    const declared = `namespace UnityEngine {
      public class Object { public static void DontDestroyOnLoad(Object kept) {} }
      public class GameObject : Object {}
      public class MonoBehaviour : Object { public GameObject gameObject; }
    }`;
    writeFileSync(file('unity.cs'), declared);
    const given = [...sources, join(folder, 'optional', 'LorekeepBehaviour.cs'), file('unity.cs')];
    // Unity sets the fields, and calls the methods.
    const strict = ['-langversion:7', '-warn:4', '-warnaserror', '-nowarn:0649'];
    execFileSync('mcs', [...strict, '-target:library', `-out:${file('unity.dll')}`, ...given], {
      stdio: 'inherit',
    });
  });

  it('runs the program of the documentation', async () => {
    await expectExample('csharp', file('example.cs'), () => [
      'mono',
      compiled(file('example.cs'), 'example'),
    ]);
  });
});
