import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Every file that package.json names. */
function namedFiles(value: unknown): string[] {
  if (typeof value === 'string') return [posix.normalize(value)];
  return Object.values(value as object).flatMap(namedFiles);
}

it('package.json names files that the tarball holds, also for tools that do not read exports', () => {
  const { main, types, bin, exports: entries, keywords, typesVersions } = manifest;
  expect(main).toBe(entries['.'].default);
  expect(types).toBe(entries['.'].types);
  for (const name of ['knowledge-base', 'client'])
    expect(typesVersions['*'][name]).toEqual([entries[`./${name}`].types]);
  expect(new Set(keywords).size).toBe(keywords.length);
  expect(keywords.length).toBeGreaterThan(5);
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const output = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    shell: process.platform === 'win32',
  });
  const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }];
  const listed = files.map(({ path }) => path);
  const named = namedFiles([main, types, bin, entries]);
  expect(named.length).toBeGreaterThan(6);
  for (const file of named) expect(listed).toContain(file);
});

it('the source package is an optional peer in the version of the package', () => {
  const { version, peerDependencies, peerDependenciesMeta } = manifest;
  expect(peerDependencies['@lorekeep/source']).toBe(version);
  expect(peerDependenciesMeta['@lorekeep/source']).toEqual({ optional: true });
});
