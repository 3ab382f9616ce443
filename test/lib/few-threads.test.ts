import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

/** A user that has no other processes: the limit counts all threads of a user. */
const user = 100_000 + process.pid;
const children = join(import.meta.dirname, 'children');
const searching = join(children, 'search-with-few-threads.mjs');
const generating = join(children, 'generate-with-few-threads.mjs');
const folder = temporaryFolder();

/** Runs node as that user, who may have `threads` threads. */
function limited(threads: number, ...args: string[]) {
  const identity = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  const command = [...identity, 'prlimit', `--nproc=${threads}`, process.execPath, ...args];
  return spawnSync('setpriv', command, { encoding: 'utf8', timeout: 15_000 });
}

const unavailable =
  process.getuid?.() !== 0
    ? 'only root can become another user'
    : limited(100, searching).status !== 0
      ? 'setpriv or prlimit is missing, or another user cannot read this folder'
      : undefined;
if (unavailable) console.log(`few threads: left out: ${unavailable}`);

/** The fewest threads with which node itself starts. */
function fewest(): number {
  let least = 12;
  while (least < 100 && limited(least, '-e', '0').status !== 0) least += 2;
  return least;
}

it.skipIf(unavailable)(
  'a search on more threads than the process may have works or is refused in one line',
  () => {
    const least = fewest();
    for (const threads of [least, least + 3]) {
      const { status, stdout, stderr } = limited(threads, searching);
      expect(stderr, `${threads} threads`).toBe('');
      expect(stdout, `${threads} threads`).toMatch(/^(found 4|refused: .+)\n$/);
      expect(status, `${threads} threads`).toBe(0);
    }
  },
);

it.skipIf(unavailable).each([false, true])(
  'a reply of llama.cpp on more threads than the process may have comes or is refused in one line (deterministic: %s)',
  async (deterministic) => {
    const model = folder(`${deterministic}.gguf`);
    await writeTinyDecoder('llama', model);
    chmodSync(folder(), 0o755);
    const reading = limited(100, '-e', 'fs.accessSync(process.argv[1])', model);
    if (reading.status !== 0)
      return console.log('few threads: left out: another user cannot read this folder');
    const least = fewest();
    for (let threads = least; threads <= least + 12; threads += 3) {
      const { status, stdout, stderr } = limited(threads, generating, model, String(deterministic));
      expect(stderr, `${threads} threads`).toBe('');
      expect(stdout, `${threads} threads`).toMatch(/^(generated 8|refused: OUT_OF_MEMORY: .+)\n$/);
      expect(status, `${threads} threads`).toBe(0);
    }
  },
);
