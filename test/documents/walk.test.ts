/** Finding files, beside Git's own reading of .gitignore. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PathPatterns } from '../../src/documents/files/path-patterns.js';
import { type Found, type WalkOptions, walk } from '../../src/documents/files/walk.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';

const file = temporaryFolder();

function write(path: string, text = 'text') {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function found(folder: string, options?: WalkOptions): Promise<Found[]> {
  const all: Found[] = [];
  for await (const each of walk(folder, options)) all.push(each);
  return all;
}

const paths = async (folder: string, options?: WalkOptions) =>
  (await found(folder, options)).map(({ path }) => path).sort();

const hasGit = (() => {
  try {
    execFileSync('git', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    console.log('the comparison with Git is skipped: there is no git');
    return false;
  }
})();

describe.skipIf(!hasGit)('walk', () => {
  const names = ['a', 'b', 'ab', 'a.md', 'b.md', 'x[1]', 'sp ace', 'A'];
  // Without brackets that are not closed in the same name: Git closes them in another one.
  const parts = [
    'a',
    'b',
    '*',
    '?',
    '[ab]',
    '[!a]',
    '[a-c]*',
    '**',
    '*.md',
    '.md',
    'x\\[1]',
    'sp ace',
    'A',
    '**b',
    '[[:upper:]]',
  ];

  test('finds the files that Git does not ignore', async () => {
    console.log(`seed ${testSeed}`);
    const next = random(testSeed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
    const pattern = () => {
      const text = Array.from({ length: 1 + Math.floor(next() * 3) }, () => pick(parts)).join(
        pick(['/', '/', '']),
      );
      return `${next() < 0.2 ? '!' : ''}${next() < 0.2 ? '/' : ''}${text}${next() < 0.3 ? '/' : ''}`;
    };
    let ignored = 0;
    for (let trial = 0; trial < 15; trial++) {
      const folder = file(`tree-${trial}`);
      const made = Array.from({ length: 40 }, () =>
        Array.from({ length: 1 + Math.floor(next() * 4) }, () => pick(names)).join('/'),
      );
      for (const [at, path] of made.entries()) {
        try {
          write(`${folder}/${path}/f${at}.md`);
        } catch {
          // A file of that name is there.
        }
      }
      for (const inside of ['', 'a/', 'ab/b/']) {
        const lines = Array.from({ length: 1 + Math.floor(next() * 4) }, pattern);
        write(`${folder}/${inside}.gitignore`, `${lines.join('\n')}\n`);
      }
      execFileSync('git', ['init', '-q', folder]);
      const listed = execFileSync('git', ['ls-files', '--others', '--exclude-standard', '-z'], {
        cwd: folder,
        encoding: 'utf8',
      });
      const visible = listed.split('\0').filter((path) => path !== '' && !path.endsWith('.gitignore'));
      const mine = await paths(folder, { include: ['*'] });
      ignored += (await paths(folder, { include: ['*'], gitignore: false })).length - mine.length;
      const rules = ['', 'a/', 'ab/b/'].map((inside) =>
        readFileSync(`${folder}/${inside}.gitignore`, 'utf8'),
      );
      expect(mine, `the files of ${folder} under ${JSON.stringify(rules)}`).toEqual(visible.sort());
    }
    expect(ignored).toBeGreaterThan(40);
  });

  test('reads the rules of the repository above the folder', async () => {
    write(file('repository/docs/kept.md'));
    write(file('repository/docs/build/made.md'));
    write(file('repository/docs/secret.md'));
    write(file('repository/.gitignore'), 'docs/build/\n/docs/secret.md\n');
    execFileSync('git', ['init', '-q', file('repository')]);
    expect(await paths(file('repository/docs'))).toEqual(['kept.md']);
    expect(await paths(file('repository/docs'), { gitignore: false })).toHaveLength(3);
  });
});

test('known endings are taken; hidden files and installed packages are not', async () => {
  for (const path of [
    'a.md',
    'b.HTML',
    'c.pdf',
    'd.txt',
    'e.csv',
    'f.jsonl',
    'g.exe',
    'h',
    '.i.md',
    '.git/j.md',
  ])
    write(file('endings', path));
  write(file('endings/node_modules/k/l.md'));
  const all = await found(file('endings'));
  const read = all.filter((one) => !('leftOut' in one)).map(({ path }) => path);
  expect(read).toEqual(['a.md', 'b.HTML', 'c.pdf', 'd.txt', 'e.csv', 'f.jsonl']);
  expect(all.slice(read.length)).toEqual([
    { path: 'g.exe', leftOut: '.exe' },
    { path: 'h', leftOut: '' },
  ]);
});

test('include and exclude have the grammar of .gitignore; exclude is stronger', async () => {
  for (const path of ['a.md', 'b.py', 'guide/c.md', 'guide/drafts/d.md', 'other/e.py'])
    write(file('chosen', path));
  expect(await paths(file('chosen'), { include: ['*.py'] })).toEqual(['b.py', 'other/e.py']);
  expect(await paths(file('chosen'), { include: ['guide/'], exclude: ['drafts/'] })).toEqual(['guide/c.md']);
  expect(await paths(file('chosen'), { include: ['guide/**', '!guide/c.md'] })).toEqual([
    'guide/drafts/d.md',
  ]);
});

test.skipIf(process.platform === 'win32')('links and pipes are named, not followed', async () => {
  write(file('links/a.md'));
  symlinkSync('.', file('links/loop'));
  symlinkSync('..', file('links/up.md'));
  symlinkSync('/etc/passwd', file('links/passwd.txt'));
  execFileSync('mkfifo', [file('links/pipe.md')]);
  expect(await found(file('links'))).toEqual([
    { path: 'a.md' },
    { path: 'loop', problem: 'is a link to a folder; links are not followed' },
    { path: 'passwd.txt', problem: 'is a symbolic link; links are not followed' },
    { path: 'pipe.md', problem: 'is not a regular file' },
    { path: 'up.md', problem: 'is a link to a folder; links are not followed' },
  ]);
});

test('a folder with more rules with wildcards than can be obeyed is left out and named, and so are those in it', async () => {
  write(file('rules/a.md'));
  write(file('rules/many/b.md'));
  write(file('rules/half/in/c.md'));
  writeFileSync(file('rules/many/.gitignore'), '*a*b*c\n'.repeat(20_000));
  for (const folder of ['half', 'half/in'])
    write(file(`rules/${folder}/.gitignore`), '*a*b*c\n'.repeat(5000));
  mkdirSync(file('rules/.git'));
  const problem = expect.stringContaining('rules with wildcards');
  expect(await found(file('rules'))).toEqual([
    { path: 'a.md' },
    { path: 'half/in/', problem },
    { path: 'many/', problem },
  ]);
  write(file('rules/many/deep/d.md'));
  expect(await found(file('rules/many/deep'))).toEqual([{ path: '.', problem }]);
});

test('any number of rules without wildcards is obeyed', async () => {
  for (const name of ['a.md', 'b.md', 'c/a.md', 'c/d.md']) write(file(`plain/${name}`));
  const others = Array.from({ length: 15_000 }, (_, n) => `other-${n}.md\n/c/other-${n}\n`);
  write(file('plain/.gitignore'), `a.md\n${others.join('')}b.md/\nc/d.md\n!/a.md\n`);
  expect(await paths(file('plain'))).toEqual(['a.md', 'b.md']);
});

test('a hostile pattern takes no time that grows with its stars', () => {
  const pattern = `${'*a'.repeat(2000)}b`;
  expect(new PathPatterns([pattern]).test('a'.repeat(4000), false)).toBeUndefined();
  expect(new PathPatterns([`${'**/a/'.repeat(1000)}b`]).test('a/'.repeat(2000), false)).toBeUndefined();
});
