import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';

/** A user that has no other processes, of no other test either: the limit counts all threads of a user. */
const user = 200_000 + process.pid;
const launcher = join(import.meta.dirname, '../../dist/src/cli/lorekeep.cjs');
const inFolder = temporaryFolder();

/** Runs node as that user, who may have `threads` threads. */
function limited(threads: number, ...args: string[]) {
  const identity = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  const command = [...identity, 'prlimit', `--nproc=${threads}`, process.execPath, ...args];
  const env = { ...process.env, HOME: inFolder(), LOREKEEP_CACHE: inFolder('cache') };
  return spawnSync('setpriv', command, { encoding: 'utf8', timeout: 60_000, cwd: inFolder(), env });
}

const unavailable =
  process.getuid?.() !== 0
    ? 'only root can become another user'
    : limited(100, launcher, '--version').status !== 0
      ? 'setpriv or prlimit is missing, or another user cannot read this folder'
      : undefined;
if (unavailable) console.log(`few threads: left out: ${unavailable}`);

/** The fewest threads with which node itself starts and needs no other. */
function fewest(): number {
  let least = 6;
  while (least < 100 && limited(least, '-e', '0').stderr !== '') least++;
  return least;
}

it.skipIf(unavailable)('a command with few threads works, or says in one line which limit to raise', () => {
  chmodSync(inFolder(), 0o777);
  writeFileSync(inFolder('records.json'), JSON.stringify([{ id: 'bees', text: 'Bees find flowers' }]));
  writeFileSync(
    inFolder('kb.json'),
    JSON.stringify({ embedding_model: 'lorekeep-mini', records_file: 'records.json' }),
  );
  const least = fewest();
  let worked = 0;
  let enough = 0;
  for (let threads = least; threads <= least + 12; threads += 2) {
    const run = limited(threads, launcher, 'search', 'kb.json', 'bees', '--mode', 'hybrid');
    const { status, signal, stdout, stderr } = run;
    expect([signal, stderr], `${threads} threads`).toEqual([null, expect.any(String)]);
    if (status === 0) {
      worked++;
      enough ||= threads;
      expect(stdout).toContain('find flowers');
      continue;
    }
    expect(status, `${threads} threads`).toBe(1);
    // Node.js itself writes the first line when it cannot start its own threads.
    const own = stderr.replace(/^node\[\d+\]: pthread_create: [^\n]*\n/, '');
    expect(own, `${threads} threads`).toMatch(/^lorekeep: (?:warning: [^\n]*\nlorekeep: )?[^\n]*\n$/);
    expect(stderr, `${threads} threads`).toMatch(/limit of .*processes and threads/);
  }
  expect(worked).toBeGreaterThan(0);
  // A child process that tried the addon would get no threads.
  const { signal, stdout } = limited(enough, launcher, 'doctor');
  expect(signal).toBeNull();
  expect(stdout).toMatch(/^warning +threads +the system allows only \d+ more, by the limit of /m);
  expect(stdout).toMatch(/^ok +addon /m);
});
