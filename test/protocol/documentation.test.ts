import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorTable } from '../../src/protocol/errors.js';

const project = join(import.meta.dirname, '../..');
const read = (...names: string[]) => readFileSync(join(project, ...names), 'utf8');

describe('the documentation', () => {
  it('has what is generated as the schemas, the node types and the layers say', () => {
    const script = join(project, 'scripts', 'generate-docs.mjs');
    const { stdout, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(stdout).toBe('generate-docs: current\n');
  });

  it('names every error with its code, whose fault it is and what to do', () => {
    const rows = read('docs', 'reference/errors.md')
      .split('\n')
      .filter((line) => /^\| \d{4} \|/.test(line));
    const documented = rows.map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    expect(documented.map(([code, name]) => [Number(code), name])).toEqual(
      Object.entries(errorTable).map(([code, { name }]) => [Number(code), name]),
    );
    for (const cells of documented)
      expect(
        cells.every((cell) => cell !== ''),
        cells.join(),
      ).toBe(true);
  });

  it('lists the architectures of language models', () => {
    const profile = read('native', 'lm', 'model', 'language_profile.cc');
    const lists = ['kAttentionModels', 'kRecurrentModels'].map(
      (name) => new RegExp(`${name}\\[\\] = \\{(.*?)\\};`, 's').exec(profile)?.[1] ?? '',
    );
    const own = /kKinds\[\] = \{(.*?)\n\};/s.exec(read('native', 'engine', 'decoder_file.cc'))?.[1] ?? '';
    const known = [
      ...lists.flatMap((list) => [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name)),
      ...[...own.matchAll(/\.name = "([^"]+)"/g)].map(([, name]) => name),
    ];
    const [, section = ''] =
      /## Architectures\n(.*?)\n## /s.exec(read('docs', 'guides/language-models.md')) ?? [];
    const listed = [...section.matchAll(/`([a-z0-9_-]+)`[,.]/g)].map(([, name]) => name);
    expect(listed.sort()).toEqual(known.sort());
    expect(known.length).toBeGreaterThan(50);
  });

  it('shows the first example as it is', () => {
    expect(read('README.md')).toContain(read('examples', 'quickstart.mjs').trimEnd());
  });

  it('names every folder of the source, and no file that is not there', () => {
    const page = read('docs', 'internals/architecture.md');
    const table = page.slice(page.indexOf('## Folders'), page.indexOf('## The layers of src'));
    const named = new Set([...table.matchAll(/(?:native|src)\/\w+/g)].map(([folder]) => folder));
    const folders = ['native', 'src'].flatMap((root) =>
      readdirSync(join(project, root), { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !['cmake', 'vendor'].includes(entry.name))
        .map(({ name }) => `${root}/${name}`),
    );
    expect([...named].sort()).toEqual(folders.sort());
    const files = [...page.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|h|cc|mjs))`/g)].map(
      ([, file = '']) => file,
    );
    expect(files.length).toBeGreaterThan(20);
    const absent = files.filter((file) =>
      ['', 'src', 'src/agents'].every((root) => !existsSync(join(project, root, file))),
    );
    expect(absent).toEqual([]);
  });
});
