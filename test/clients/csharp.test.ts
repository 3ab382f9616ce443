import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
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

const sources = readdirSync(folder)
  .filter((name) => name.endsWith('.cs'))
  .map((name) => join(folder, name));

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

  it('runs the program of the documentation', async () => {
    await expectExample('csharp', file('example.cs'), () => [
      'mono',
      compiled(file('example.cs'), 'example'),
    ]);
  });
});
