import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';

const project = join(import.meta.dirname, '../..');
const file = temporaryFolder();
const folder = file('project');
const page = readFileSync(join(project, 'docs/knowledge-bases.md'), 'utf8');
const tutorial = page.slice(page.indexOf('## A tutorial'), page.indexOf('## The config file'));

/** The blocks of the tutorial in one language, in order. */
const blocks = (language: string) =>
  [...tutorial.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text ?? '');

const save = (name: string, text = '') => writeFileSync(join(folder, name), text);

/** Runs what a reader would type, in the project's folder, and gives what it prints. */
function shell(script: string): string {
  const path = [join(folder, 'bin'), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path };
  return execFileSync('sh', ['-e', '-c', script], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
}

/** A project with the package installed; `npx` runs the installed command, as npm's does, without npm. */
beforeAll(() => {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(project, join(folder, 'node_modules/lorekeep'), 'dir');
  const command = join(project, 'dist/src/cli/main.js');
  save('bin/npx', `#!/bin/sh\nshift\nexec "${process.execPath}" "${command}" "$@"\n`);
  chmodSync(join(folder, 'bin/npx'), 0o755);
});

describe.skipIf(process.platform === 'win32')('the tutorial of docs/knowledge-bases.md', () => {
  test('works as it is written, from a folder of text files to a search, and prints what it says', () => {
    const [notes, build] = blocks('sh');
    const [records, search] = blocks('js');
    save('records.mjs', records);
    save('search.mjs', search);
    save('kb.json', blocks('json')[0]);
    shell(notes as string);
    expect(shell(build as string)).toContain('bees.txt#0');
    expect(shell('node search.mjs')).toBe(blocks('')[0]);
  });

  test('has scripts that run', () => {
    const others = blocks('js').slice(2);
    expect(others).toHaveLength(3);
    const printed = others.map((text) => {
      save('other.mjs', text);
      return shell('node other.mjs');
    });
    expect(printed).toEqual(['', 'Bees dance.\n', expect.stringMatching(/^4\n.*OnDemand/s)]);
  });

  test('goes with the example of a knowledge base', () => {
    const printed = shell(
      'node node_modules/lorekeep/examples/knowledge-base.mjs notes "how do bees find flowers?"',
    );
    expect(printed).toMatch(/^4 paragraphs, 4 texts embedded in \d+ ms\n1\. [\d.]+ bees\.txt: Bees see/);
  });
});
