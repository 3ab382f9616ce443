import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, '.github', 'workflows');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };

it('workflows, which nobody has run, name files and scripts that exist', () => {
  const files: string[] = [];
  const named: string[] = [];
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    for (const [file] of text.matchAll(/\b(?:test|scripts|node_modules)\/[\w./-]+\.(?:ts|mjs)\b/g))
      files.push(file);
    for (const [, script] of text.matchAll(/\bnpm run ([\w:]+)/g)) named.push(script as string);
  }
  expect(files.length).toBeGreaterThan(2);
  expect(readdirSync(folder).sort()).toEqual(['nightly.yml', 'prebuilds.yml', 'test.yml']);
  expect(named.length).toBeGreaterThan(4);
  for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
  for (const script of named) expect(Object.keys(scripts)).toContain(script);
});
