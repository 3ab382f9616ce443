import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { testSeed } from '../helpers/random.js';
import { expectExample, expectScenarios, turkishLocale } from './world.js';

const file = temporaryFolder();
const folder = join(import.meta.dirname, '../../clients/c');

/** Whether a command succeeds. */
function succeeds(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const compiler = ['cc', 'gcc', 'clang'].find((name) => succeeds(name, '--version'));
if (compiler === undefined) console.log('skipped: the client in C: there is no C compiler');

const strict = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror'];

/** Options with which programs are compiled: under sanitizers where the compiler has them. */
function chooseOptions(): string[] {
  const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
  writeFileSync(file('empty.c'), 'int main(void) { return 0; }\n');
  const has = succeeds(compiler as string, ...sanitizers, file('empty.c'), '-o', file('empty'));
  if (!has) console.log('the client in C is tested without sanitizers: the compiler has none');
  return ['-std=c99', ...strict, '-g', '-O1', ...(has ? sanitizers : [])];
}

let [options, object] = [[] as string[], ''];

/** Compiles a program with the client; its path. */
function compiled(source: string, name: string): string {
  if (object === '') {
    options = chooseOptions();
    const to = file('lorekeep.o');
    execFileSync(compiler as string, [...options, '-c', join(folder, 'lorekeep.c'), '-o', to], {
      stdio: 'inherit',
    });
    object = to;
  }
  const args = [...options, '-I', folder, source, object, '-lm', '-o', file(name)];
  execFileSync(compiler as string, args, { stdio: 'inherit' });
  return file(name);
}

const program = (name: string) => compiled(join(folder, 'test', `${name}.c`), name);

describe.skipIf(compiler === undefined)('the client in C', () => {
  it('is C++ too', () => {
    if (!succeeds('c++', '--version')) return console.log('skipped: there is no C++ compiler');
    const source = join(folder, 'lorekeep.c');
    execFileSync('c++', ['-std=c++11', ...strict, '-fsyntax-only', '-x', 'c++', source], {
      stdio: 'inherit',
    });
  });

  it('reads and writes JSON, and survives damaged JSON, in any locale', () => {
    const json = program('json');
    const locales = [{}, turkishLocale()];
    for (const env of locales) {
      if (env === undefined) continue;
      const output = execFileSync(json, [`${testSeed}`], {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
      expect(output).toMatch(/^ok$/m);
      if ('LC_ALL' in env) expect(output).toContain('decimal point ,');
    }
  });

  it('passes every scenario', async () => {
    await expectScenarios([program('scenarios')], turkishLocale());
  });

  it('runs the program of the documentation', async () => {
    await expectExample('c', file('example.c'), () => [compiled(file('example.c'), 'example')]);
  });

  it('passes every scenario on Windows, which Wine stands for', async () => {
    const mingw = 'x86_64-w64-mingw32-gcc';
    const wine = ['wine64', '/usr/lib/wine/wine64'].find((name) => succeeds(name, '--version'));
    if (wine === undefined || !succeeds(mingw, '--version'))
      return console.log(
        'skipped: the client in C on Windows: wine64 and gcc-mingw-w64-x86-64 are not there',
      );
    const sources = [join(folder, 'test', 'scenarios.c'), join(folder, 'lorekeep.c')];
    const windows = ['-std=c99', ...strict, '-O1', '-static', '-I', folder, ...sources, '-lws2_32'];
    execFileSync(mingw, [...windows, '-o', file('scenarios.exe')], { stdio: 'inherit' });
    const env = { WINEPREFIX: file('wine'), WINEDEBUG: '-all' };
    onTestFinished(() => {
      // Else it writes into the folder that is being removed.
      for (const option of ['-k', '-w'])
        spawnSync('/usr/lib/wine/wineserver', [option], { env: { ...process.env, ...env } });
    });
    // The server is a program of Linux.
    await expectScenarios([wine, file('scenarios.exe')], env, ['starts and ends a server']);
  });
});
