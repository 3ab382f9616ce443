import { fork, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
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
      new RegExp(`^${folder}/kb\\.index: cannot .* in the folder ${folder}: No space left on device$`),
    ),
    warned: [expect.stringContaining('embeddings file not written')],
    unchanged: true,
    size: 20,
    strays: [],
  });
});
