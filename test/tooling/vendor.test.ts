import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

let folder: string;
let registry: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lorekeep-vendor-'));
});
afterEach(() => {
  registry?.close();
  registry = undefined;
  rmSync(folder, { recursive: true });
});

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], {
    cwd,
    encoding: 'utf8',
  }).trim();

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** A package that, like the real one, holds a git bundle of three files. */
function makePackage() {
  write('tree/LICENSE', 'Permission is granted.\n');
  write('tree/src/core.c', 'int one;\nint two;\nint three;\n');
  write('tree/src/gpu/kernel.cu', 'unwanted\n');
  write('tree/docs/manual.md', 'unwanted\n');
  const tree = join(folder, 'tree');
  git(tree, 'init', '--quiet');
  git(tree, 'add', '.');
  git(tree, 'commit', '--quiet', '-m', 'all');
  write('package/package.json', JSON.stringify({ name: 'carrier', version: '1.0.0' }));
  git(tree, 'bundle', 'create', '--quiet', join(folder, 'package', 'sources.bundle'), 'HEAD');
  const archive = join(folder, 'carrier-1.0.0.tgz');
  execFileSync('tar', ['-czf', archive, '-C', folder, 'package']);
  const digest = createHash('sha512').update(readFileSync(archive)).digest('base64');
  return { archive, integrity: `sha512-${digest}`, commit: git(tree, 'rev-parse', 'HEAD') };
}

const patch = (context: string) => `--- a/src/core.c
+++ b/src/core.c
@@ -1,3 +1,3 @@
 int one;
-int ${context};
+int zwei;
 int three;
`;

function makeManifest(changes: Record<string, unknown> = {}): void {
  const { archive, integrity, commit } = makePackage();
  const source = {
    name: 'thing',
    version: '1.0',
    license: 'MIT',
    package: `file:${archive}`,
    integrity,
    bundle: 'sources.bundle',
    commit,
    keep: ['LICENSE', 'src/*'],
    drop: [],
    patches: ['thing.patch'],
    licenseFile: 'LICENSE',
    ...changes,
  };
  write('manifest.json', JSON.stringify({ sources: [source] }));
  write('patches/thing.patch', patch('two'));
}

/** Asynchronous, because the registry that it asks lives in this process. */
function vendor(env: Record<string, string> = {}) {
  const args = [
    'scripts/vendor.mjs',
    '--manifest',
    join(folder, 'manifest.json'),
    '--into',
    join(folder, 'out'),
  ];
  // The user's own cache may not be there, nor can it be made where the home folder is not writable.
  const npm = { npm_config_cache: join(folder, 'npm-cache') };
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...npm, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  return new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (status) => resolve({ status, stdout, stderr })),
  );
}

/** One line, no stack, and nothing of an unfinished attempt left behind. */
function expectRefusal(result: { status: number | null; stderr: string }, ...words: string[]): void {
  expect(result.status).toBe(1);
  expect(result.stderr.trim().split('\n')).toHaveLength(1);
  for (const word of ['vendor: thing: ', ...words]) expect(result.stderr).toContain(word);
  const left = existsSync(join(folder, 'out')) ? readdirSync(join(folder, 'out')) : [];
  expect(left).toEqual([]);
}

describe('vendoring', () => {
  test('brings what the manifest keeps, patched, and a second run does nothing', async () => {
    makeManifest();
    const first = await vendor();
    expect(first).toMatchObject({ status: 0, stderr: '' });
    const out = join(folder, 'out', 'thing');
    expect(readdirSync(join(folder, 'out'))).toEqual(['thing']);
    expect((readdirSync(out, { recursive: true }) as string[]).sort()).toEqual(
      ['LICENSE', 'src', join('src', 'core.c'), 'vendored.json'].sort(),
    );
    expect(readFileSync(join(out, 'src', 'core.c'), 'utf8')).toBe('int one;\nint zwei;\nint three;\n');
    const before = statSync(out).mtimeMs;
    expect(await vendor()).toEqual({ status: 0, stdout: 'vendor: thing 1.0 are in place\n', stderr: '' });
    expect(statSync(out).mtimeMs).toBe(before);
  });

  test('brings it anew when a patch changed', async () => {
    makeManifest();
    await vendor();
    write('patches/thing.patch', patch('two').replace('zwei', 'deux'));
    await vendor();
    expect(readFileSync(join(folder, 'out', 'thing', 'src', 'core.c'), 'utf8')).toContain('deux');
  });

  test('stops at a wrong integrity', async () => {
    makeManifest({ integrity: `sha512-${'A'.repeat(86)}==` });
    expectRefusal(await vendor(), 'carrier-1.0.0.tgz', 'has another content than the manifest says');
  });

  test('stops at a patch that does not apply', async () => {
    makeManifest();
    write('patches/thing.patch', patch('dos'));
    expectRefusal(await vendor(), 'the patch thing.patch does not apply', 'src/core.c');
  });

  test('stops at a bundle of another commit', async () => {
    makeManifest({ commit: '0'.repeat(40) });
    expectRefusal(await vendor(), 'but the manifest says 0000000');
  });

  test('stops at a path that is not there', async () => {
    makeManifest({ keep: ['LICENSE', 'include'] });
    expectRefusal(await vendor(), 'the manifest keeps include');
  });

  test('stops at a package that the registry does not have', async () => {
    makeManifest({ package: 'lorekeep-no-such-package@1.0.0' });
    registry = createServer((_, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"Not found"}');
    });
    await new Promise<void>((resolve) => registry?.listen(0, '127.0.0.1', resolve));
    const { port } = registry.address() as AddressInfo;
    const env = { npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: join(folder, 'cache') };
    expectRefusal(await vendor(env), 'lorekeep-no-such-package@1.0.0 does not exist');
  });

  test('stops at a registry that does not answer', async () => {
    makeManifest({ package: 'carrier@1.0.0' });
    const env = {
      npm_config_registry: 'http://127.0.0.1:9/',
      npm_config_fetch_retries: '0',
      npm_config_cache: join(folder, 'cache'),
    };
    expectRefusal(await vendor(env), 'carrier@1.0.0 could not be fetched', 'npm config get registry');
  });
});

describe('the vendored llama.cpp', () => {
  test('makes the whole AMX tile configuration visible before it is loaded', () => {
    const path = join(root, 'native', 'vendor', 'llama.cpp', 'ggml', 'src', 'ggml-cpu', 'amx', 'mmq.cpp');
    const source = readFileSync(path, 'utf8');
    expect(source).toMatch(
      /asm volatile\("" : : "r"\(&tc\) : "memory"\);\n#endif\n\s+_tile_loadconfig\(&tc\)/,
    );
  });
});
