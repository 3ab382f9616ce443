import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from '../server/program.js';

const project = join(import.meta.dirname, '../..');
const file = temporaryFolder();
const folder = file('project');

/** The code blocks of a page in one language, in order. */
const blocks = (page: string, language: string) =>
  [...readFileSync(join(project, 'docs', page), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text ?? '');

/** A score, whose last digit differs between processors with and without matrices of bfloat16. */
const score = / \d\.\d\d /g;

const save = (name: string, text = '') => writeFileSync(join(folder, name), text);

/** Runs what a reader would type, in the project's folder, and gives what it prints. */
function shell(script: string): string {
  const path = [join(folder, 'bin'), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, LOREKEEP_STATE: file('state') };
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

describe.skipIf(process.platform === 'win32')(
  'docs/guides/get-started.md and docs/guides/knowledge-bases.md',
  () => {
    test('lead from a folder of text files to a search that prints what the page shows', () => {
      const [notes, index, build] = blocks('guides/get-started.md', 'sh');
      shell(notes as string);
      expect(shell(index as string)).toMatch(/^notes: 2 records of 2 files .*^1 .*bees\.txt/ms);
      const [records, search] = blocks('guides/get-started.md', 'js');
      save('records.mjs', records);
      save('search.mjs', search);
      save('kb.json', blocks('guides/get-started.md', 'json')[0]);
      expect(shell(build as string)).toContain('bees.txt#0');
      const printed = shell('node search.mjs');
      const shown = blocks('guides/get-started.md', '')[0] as string;
      expect(printed.replace(score, ' # ')).toBe(shown.replace(score, ' # '));
      for (const [at, [value]] of [...printed.matchAll(score)].entries())
        expect(Number(value)).toBeCloseTo(Number([...shown.matchAll(score)][at]?.[0]), 1.5);
    });

    test('serve the knowledge base to an agent that answers', async () => {
      shell('npx lorekeep init server');
      const config = join(folder, 'server/server-config.json');
      const settings = JSON.parse(readFileSync(config, 'utf8')) as object;
      writeFileSync(config, JSON.stringify({ ...settings, storage_root: folder, port: 0 }));
      const server = Program.run('dist/src/cli/main.js', 'serve', '--config', config);
      const [, port] = await server.printed(/"port":(\d+)/);
      const agent = blocks('guides/get-started.md', 'js')[2] as string;
      save('agent.mjs', agent.replace('connect()', `connect({ port: ${port} })`));
      expect(shell('node agent.mjs')).toMatch(/[Bb]ee.*\.\n$/);
    });

    test('have scripts that run', () => {
      // The first is an example with arguments: example.test.ts runs it.
      const [, ...others] = blocks('guides/knowledge-bases.md', 'js');
      expect(others).toHaveLength(5);
      const printed = others.map((text) => {
        save('other.mjs', text);
        return shell('node other.mjs');
      });
      expect(printed).toEqual([
        'The museum opens at nine.\n',
        '',
        'Bees dance.\n',
        '2\n',
        expect.stringMatching(/^4\n.*OnDemand/s),
      ]);
    });

    test('agree with the example of a knowledge base', () => {
      const printed = shell(
        'node node_modules/lorekeep/examples/knowledge-base.mjs notes "how do bees find flowers?"',
      );
      expect(printed).toMatch(
        /^2 records of 2 files, \d+ texts embedded, in .*\n1\. [\d.]+ bees\.txt: Bees see/,
      );
    });
  },
);
