// argv: folder of the dumps, kind of the crash, thread. Crashes as the server would, with texts of a user in memory.
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { TextIndex } from '../../../dist/lib/index.js';
import { forcedCrash } from '../../../dist/lib/os/forced-crash.js';
import { startCrashDumps } from '../../../dist/src/operations/crash/crash-dumps.js';

const log = { warn: (...args) => console.log('warn', JSON.stringify(args)) };
const [folder, kind, thread] = isMainThread ? process.argv.slice(2) : workerData;

if (isMainThread) startCrashDumps({ crash_dump: { enabled: true, dir: folder }, logs_dir: '' }, log);
if (isMainThread && thread === 'worker') {
  await once(new Worker(new URL(import.meta.url), { workerData: [folder, kind, 'calling'] }), 'exit');
} else if (kind === 'out-of-memory') {
  // Uses the pool first, so that its threads are in the dump.
  await TextIndex.build(['a text']);
  const held = [];
  for (;;) held.push(new Array(100_000).fill({}));
} else {
  const index = await TextIndex.build([process.env.LOREKEEP_TEST_TEXT ?? 'a text', 'other']);
  await index.search(process.env.LOREKEEP_TEST_TEXT ?? 'a text', 1);
  forcedCrash(kind, thread)();
  // The crash of another thread comes at any time.
  setInterval(() => {}, 60_000);
}
