import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Returns the blocks of JavaScript of a page, as `PAGE:LINE` and text. */
function blocksOf(page: string): [string, string][] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(({ index, 1: code = '' }) => [
    `${page}:${text.slice(0, index).split('\n').length}`,
    code,
  ]);
}

/** Prints the place and the error of each block that is no module for this Node.js. */
const script = `
const { SourceTextModule } = require('node:vm');
for (const [place, code] of JSON.parse(require('node:fs').readFileSync(0, 'utf8'))) {
  try {
    new SourceTextModule(code);
  } catch ({ message }) {
    console.log(place + ': ' + message);
  }
}`;

it('every block of JavaScript in the pages can be pasted into a module', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  const blocks = ['README.md', ...pages.map((name) => `docs/${name}`)].flatMap(blocksOf);
  expect(blocks.length).toBeGreaterThan(15);
  const flags = ['--experimental-vm-modules', '--no-warnings', '-e', script];
  const options = { input: JSON.stringify(blocks), encoding: 'utf8' } as const;
  expect(execFileSync(process.execPath, flags, options)).toBe('');
});
