import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const project = join(import.meta.dirname, '..', '..');

let tree: string;

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'lorekeep-scope-'));
  for (const path of ['scripts/scope.mjs', 'scripts/tool', 'package.json'])
    cpSync(join(project, path), join(tree, path), { recursive: true });
  write(
    'scripts/scope/rooms.mjs',
    `export const rooms = [['src/one', 10, 'SPEC', 'one'], ['lib', 10, 'README', 'two']];
export const parts = [['a part', /^src\\/one\\/a/, 'stays', 'it is fast']];
export const wings = [['a wing', ['src/one', 'lib'], 99, 1, 'flying']];\n`,
  );
  const places = ['rooms', 'parts', 'wings'].map((name) => `<!-- begin ${name} -->\n<!-- end ${name} -->\n`);
  write('docs/scope.md', places.join('\n'));
  write('src/one/a.ts', '1\n2\n3\n');
  write('src/one/b.gen.ts', '1\n'.repeat(100));
  write('lib/c.ts', '1\n');
  spawnSync('git', ['init', '-q'], { cwd: tree });
});
afterEach(() => rmSync(tree, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(tree, dirname(path)), { recursive: true });
  writeFileSync(join(tree, path), text);
}

function scope(mode: string) {
  const script = join(tree, 'scripts', 'scope.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, mode], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('the check of sizes', () => {
  test('writes tables of hand-written lines that it then accepts', () => {
    expect(scope('--check').status).toBe(1);
    expect(scope('--write').status).toBe(0);
    const page = readFileSync(join(tree, 'docs', 'scope.md'), 'utf8');
    expect(page).toContain('| src/one | 3 | 10 | SPEC | one |');
    expect(page).toContain('| a part | 3 | stays | it is fast |');
    expect(page).toContain('| a wing | src/one, lib | 99 | 3 | flying |');
    expect(scope('--check')).toMatchObject({ status: 0 });
  });

  test('fails for a room that exceeds its budget, even if the page says so', () => {
    write('src/one/a.ts', '1\n'.repeat(11));
    scope('--write');
    const { status, output } = scope('--check');
    expect(status).toBe(1);
    expect(output).toContain('src/one has 11 lines and a budget of 10');
  });

  test('fails for a page that is out of date', () => {
    scope('--write');
    const rooms = readFileSync(join(tree, 'scripts/scope/rooms.mjs'), 'utf8');
    write('scripts/scope/rooms.mjs', rooms.replace("'two'", "'three'"));
    expect(scope('--check')).toMatchObject({ status: 1, output: expect.stringContaining('differs from') });
  });

  test('fails for a file without a room and for a room without files', () => {
    scope('--write');
    write('src/odd/x.ts', '1\n');
    expect(scope('--check').output).toContain('src/odd/x.ts is in no room');
    rmSync(join(tree, 'src/odd'), { recursive: true });
    rmSync(join(tree, 'lib'), { recursive: true });
    expect(scope('--check').output).toContain('lib has no code');
  });
});
