import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const { relativeImports } = await import(new URL('../../scripts/layers/imports.mjs', import.meta.url).href);
const { sourceFiles } = await import(new URL('../../scripts/tool/sources.mjs', import.meta.url).href);
const root = join(import.meta.dirname, '..', '..');

test.each(['bench', 'tools'])(
  '%s is a workspace of its own: no file outside imports from it',
  (workspace) => {
    const folders = ['lib', 'src', 'scripts', 'test', 'web', 'examples', 'site'];
    const files: string[] = sourceFiles(root, folders, ['.ts', '.tsx', '.mts', '.cts', '.mjs']);
    expect(files.length).toBeGreaterThan(500);
    const importing = files.filter((file) =>
      relativeImports(file, readFileSync(join(root, file), 'utf8'), { types: true }).some((path: string) =>
        path.startsWith(`${workspace}/`),
      ),
    );
    expect(importing).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(root, workspace, 'package.json'), 'utf8'));
    expect(manifest.private).toBe(true);
  },
);
