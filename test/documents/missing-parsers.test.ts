/** What happens where the optional parsers are not installed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { optionalPackages } from '../../src/documents/formats/optional-package.js';
import { temporaryFolder } from '../helpers/folder.js';
import { pdfOf } from './pdf-file.js';

const project = join(import.meta.dirname, '../..');
const file = temporaryFolder();
const optional = Object.keys(optionalPackages);

/** Makes a view of the installed package in which packages are missing. */
function packageWithout(names: readonly string[]): string {
  const view = file('package');
  mkdirSync(join(view, 'node_modules'), { recursive: true });
  for (const name of ['dist', 'build', 'data', 'package.json'])
    symlinkSync(join(project, name), join(view, name));
  // Of @mozilla, lorekeep uses an optional package alone.
  for (const name of readdirSync(join(project, 'node_modules'))) {
    if (name === '@mozilla' || names.includes(name)) continue;
    symlinkSync(join(project, 'node_modules', name), join(view, 'node_modules', name));
  }
  return join(view, 'dist/src/cli/main.js');
}

test.skipIf(process.platform === 'win32')(
  'Markdown is indexed, and the command that installs each parser is named',
  () => {
    const program = packageWithout(optional);
    mkdirSync(file('docs'));
    writeFileSync(file('docs/a.md'), '# Bees\n\nBees dance.');
    writeFileSync(file('docs/b.html'), '<p>Ice flows.');
    writeFileSync(file('docs/c.pdf'), pdfOf([['Honey.']]));
    const view = ['--preserve-symlinks', '--preserve-symlinks-main'];
    const command = ['index', file('docs'), '--model', 'lorekeep-mini', '--json'];
    const env = { ...process.env, LOREKEEP_STATE: file('state') };
    const { stdout, stderr } = spawnSync(process.execPath, [...view, program, ...command], {
      env,
      encoding: 'utf8',
    });
    expect(stdout, stderr).toMatch(/^\{/);
    const { records, problems } = JSON.parse(stdout);
    expect(records).toBe(2);
    expect(problems).toEqual([
      { path: 'c.pdf', reason: expect.stringMatching(/^needs the package unpdf: npm install unpdf@/) },
    ]);
    const other = { env: { ...env, LOREKEEP_STATE: file('other-state') }, encoding: 'utf8' } as const;
    const page = spawnSync(process.execPath, [...view, program, ...command, '--readability'], other);
    expect(JSON.parse(page.stdout).problems).toContainEqual({
      path: 'b.html',
      reason: 'needs the package linkedom: npm install linkedom@0.18.12',
    });
    // With the parsers, a second run reads the files although they have not changed.
    const whole = [join(project, 'dist/src/cli/main.js'), ...command];
    expect(JSON.parse(execFileSync(process.execPath, whole, { env, encoding: 'utf8' }))).toMatchObject({
      read: 1,
      records: 3,
      problems: [],
    });
  },
);

test('the named versions are tested and documented', () => {
  const { devDependencies, peerDependencies } = JSON.parse(
    readFileSync(join(project, 'package.json'), 'utf8'),
  );
  const named = Object.entries(optionalPackages).map(([name, version]) => `${name}@${version}`);
  expect(readFileSync(join(project, 'docs/guides/indexing.md'), 'utf8')).toContain(
    `npm install ${named.join(' ')}`,
  );
  expect(devDependencies).toMatchObject(optionalPackages);
  // Beside them, the sources for platforms without a prebuild, and the driver of databases.
  const parsers = Object.keys(peerDependencies).filter((name) => !/^@lorekeep\/|^pg$/.test(name));
  expect(parsers).toEqual(optional);
});
