import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, '../../scripts/check-links.mjs');
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lorekeep-links-'));
  write('package.json', '{"name":"sample","version":"1.0.0","files":["docs"]}');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

async function check(): Promise<{ code: number; output: string }> {
  const args = [script, '--root', root, '--at-least', '1'];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { code, output: stdout };
  }
}

describe('check-links', () => {
  it('follows links to files and to headings', async () => {
    write('README.md', 'See [the page](docs/page.md#second-part) and [below](#below).\n\n## Below\n');
    write('docs/page.md', '# Page\n\n## Second `part`\n\n[Back](../README.md)\n');
    expect(await check()).toMatchObject({ code: 0 });
  });

  it('names the page, the line and the reason of a dead link', async () => {
    write('README.md', 'Fine: [page](docs/page.md).\n\n[gone](docs/gone.md) [lost](docs/page.md#nowhere)\n');
    write('docs/page.md', '# Page\n');
    const { code, output } = await check();
    expect(code).toBe(1);
    expect(output).toContain('README.md:3: docs/gone.md: there is no such file (repository)');
    expect(output).toContain(
      'README.md:3: docs/page.md#nowhere: there is no heading for #nowhere (repository)',
    );
  });

  it('finds links to files that the package lacks', async () => {
    write('README.md', '[tool](tools/tool.md)\n');
    write('tools/tool.md', '# Tool\n');
    const { code, output } = await check();
    expect(code).toBe(1);
    expect(output).toContain('README.md:1: tools/tool.md: there is no such file (package)');
    expect(output).not.toContain('(repository)');
  });

  it('names pages that the map of the documentation lacks', async () => {
    write('docs/README.md', '[page](page.md)\n');
    write('docs/page.md', '# Page\n');
    write('docs/lost.md', '# Lost\n');
    const { code, output } = await check();
    expect(code).toBe(1);
    expect(output).toContain('docs/README.md: the map lacks docs/lost.md');
    expect(output).not.toContain('docs/page.md');
  });

  it('takes code for code', async () => {
    write('README.md', '[here](#title)\n\n# Title\n\n`[a](b.md)`\n\n```\n[c](d.md)\n```\n');
    expect(await check()).toMatchObject({ code: 0 });
  });

  it('fails when it saw nothing', async () => {
    write('README.md', 'No links.\n');
    expect(await check()).toMatchObject({ code: 1 });
  });
});
