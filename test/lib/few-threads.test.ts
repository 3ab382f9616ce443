import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** A user that has no other processes: the limit counts all threads of a user. */
const user = 64321;
const child = join(import.meta.dirname, 'children/search-with-few-threads.mjs');

/** Runs node as that user, who may have `threads` threads. */
function limited(threads: number, ...args: string[]) {
  const identity = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  const command = [...identity, 'prlimit', `--nproc=${threads}`, process.execPath, ...args];
  return spawnSync('setpriv', command, { encoding: 'utf8', timeout: 15_000 });
}

const unavailable =
  process.getuid?.() !== 0
    ? 'only root can become another user'
    : limited(100, child).status !== 0
      ? 'setpriv or prlimit is missing, or another user cannot read this folder'
      : undefined;
if (unavailable) console.log(`few threads: left out: ${unavailable}`);

it.skipIf(unavailable)(
  'a search on more threads than the process may have works or is refused in one line',
  () => {
    // With fewer threads than this node itself does not start.
    let least = 12;
    while (least < 100 && limited(least, '-e', '0').status !== 0) least += 2;
    for (const threads of [least, least + 3]) {
      const { status, stdout, stderr } = limited(threads, child);
      expect(stderr, `${threads} threads`).toBe('');
      expect(stdout, `${threads} threads`).toMatch(/^(found 4|refused: .+)\n$/);
      expect(status, `${threads} threads`).toBe(0);
    }
  },
);
