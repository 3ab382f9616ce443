import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const dist = join(import.meta.dirname, '../../dist');

/** Paths of the files that a module imports, statically or not, from dist/. */
function importsOf(file: string): string[] {
  const specifiers = /(?:^(?:import|export|\})[^'"\n]*?|(?<!\{)\bimport\()["'](\.[^"'\n]+\.c?js)["'][;)]/gm;
  const found = readFileSync(file, 'utf8').matchAll(specifiers);
  return [...found].map(([, path = '']) => relative(dist, join(dirname(file), path)).replaceAll('\\', '/'));
}

/** The bundled modules, by path from dist/, and what they import. Files of former builds lie beside them. */
function program(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (path: string): void => {
    if (found.has(path) || !path.startsWith('program/')) return;
    found.set(path, importsOf(join(dist, path)));
    for (const imported of found.get(path) ?? []) add(imported);
  };
  for (const name of ['main', 'worker', 'pdf-worker', 'pattern-worker']) add(`program/${name}.js`);
  return found;
}

it('the bundle of the command line loads no compiled module a second time', () => {
  const imported = [...program().values()].flat();
  expect(imported.length).toBeGreaterThan(100);
  expect(imported.filter((path) => !existsSync(join(dist, path)))).toEqual([]);
  const outside = imported.filter((path) => !path.startsWith('program/'));
  expect(new Set(outside)).toEqual(new Set(['src/cli/closed-debugger.cjs', 'src/cli/thread-room.cjs']));
});

it('the modules that a process or a thread starts with import their bundle alone', () => {
  for (const [module, bundle] of [
    ['src/cli/main.js', 'program/main.js'],
    ['src/knowledge/folder/reading/worker.js', 'program/worker.js'],
    ['src/documents/formats/pdf-worker.js', 'program/pdf-worker.js'],
    ['src/agents/lists/pattern-worker.js', 'program/pattern-worker.js'],
  ] as const)
    expect(importsOf(join(dist, module)), module).toEqual([bundle]);
});

it('the bundle has the licence text of every package in it, and a comment that names each source', () => {
  const sources = [...program().keys()].flatMap((path) => [
    ...readFileSync(join(dist, path), 'utf8').matchAll(/^\/\/ ((?:lib|src|node_modules)\/.*)$/gm),
  ]);
  expect(sources.map(([, path]) => path)).toContain('src/cli/search/search.ts');
  const packages = new Set(
    sources.flatMap(([, path = '']) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  );
  expect(packages).toContain('zod');
  const licences = readFileSync(join(dist, 'program', 'LICENSES.txt'), 'utf8');
  for (const name of packages) expect(licences, name).toMatch(new RegExp(`^${name} \\d`, 'm'));
});
