import { fork, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const child = fileURLToPath(new URL('children/full-disk.mjs', import.meta.url));
/** A file system of a quarter of a megabyte for one process and its children alone; it goes with them. */
const small = ['-m', 'sh', '-c', 'mount -t tmpfs -o size=256k tmpfs "$0" && exec "$@"'];
const mounts = () => spawnSync('unshare', [...small, file(), 'true'], { encoding: 'utf8' });

test('a full disk is an error that names file and folder, and the old files stay', async ({ skip }) => {
  const tried = mounts();
  if (tried.status !== 0) {
    console.log(`skipped: no file system may be mounted here: ${tried.error?.message ?? tried.stderr}`);
    skip();
  }
  await createTinyModel({ texts: ['honey'], path: file('tiny.gguf'), dimension: 64 });
  const folder = file('disk');
  mkdirSync(folder);
  const run = fork(child, [folder, file('tiny.gguf')], {
    execPath: 'unshare',
    execArgv: [...small, folder, process.execPath],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const told = await new Promise((resolve, reject) => {
    run.on('message', resolve);
    run.on('error', reject);
    run.on('exit', (code) => reject(new Error(`ended with ${code} before it told anything`)));
  });
  expect(told).toEqual({
    code: 'IO',
    message: expect.stringMatching(
      new RegExp(`^${folder}/kb\\.index: cannot .* in its folder: No space left on device$`),
    ),
    warned: [expect.stringContaining('embeddings file not written')],
    unchanged: true,
    size: 20,
    strays: [],
    forgetting: { error: 'IO', isThere: true, strays: [] },
  });
});

test('a disk that is full while a folder is indexed is an error that names the records file', ({ skip }) => {
  if (mounts().status !== 0) skip();
  const documents = file('documents');
  mkdirSync(documents);
  writeFileSync(join(documents, 'long.txt'), 'Bees dance in the hive. '.repeat(20_000));
  const state = file('state');
  mkdirSync(state);
  const program = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
  const command = [process.execPath, program, 'index', documents, '--model', 'lorekeep-mini'];
  const { status, stderr } = spawnSync('unshare', [...small, state, ...command], {
    env: { ...process.env, LOREKEEP_STATE: state },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr.trimEnd().split('\n').at(-1)).toMatch(
    /^lorekeep: \S+records\.json: cannot be written: ENOSPC: no space left on device/,
  );
  expect(readdirSync(state)).toEqual([]);
});
