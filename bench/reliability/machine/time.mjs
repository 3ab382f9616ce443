// Time that jumps: the whole server stopped for longer than its timeouts, and the time of day set forth and back.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { framed } from '../../../test/helpers/hostile-frames.mjs';
import { wait } from '../../server/server-process.mjs';
import { Peer } from '../attacks/peer.mjs';
import { compiled } from '../trace/compile.mjs';
import { withServer } from './with-server.mjs';

const timeouts = { limits: { frame_timeout_ms: 500, unread_timeout_ms: 500 } };
const day = 86_400;
const steps = [day, -day, 3650 * day, -3650 * day, 3600, -1];

export const stopped = {
  name: 'SIGSTOP for longer than the timeouts',
  run: ({ sample, short }) =>
    withServer(
      'SIGSTOP for longer than the timeouts',
      sample,
      { settings: timeouts },
      async ({ server, problem, count }) => {
        for (let round = 0; round < (short ? 1 : 5); round++) {
          const peer = await Peer.open(server.port);
          const frame = framed(Buffer.from('{"type":"Ping","id":"cut"}'));
          await peer.request({ type: 'Ping', id: 'first' });
          process.kill(server.pid, 'SIGSTOP');
          // Sent in one go, as protocol.md asks; the server sleeps meanwhile.
          const reply = peer.request({ type: 'Ping', id: 'asleep' });
          await peer.bytes(frame);
          await wait(1500);
          process.kill(server.pid, 'SIGCONT');
          if ((await reply)?.type !== 'Pong')
            problem('a client that asked while the server slept was dropped');
          peer.close();
          count();
        }
      },
    ),
};

export const clockSteps = {
  name: 'steps of the clock',
  async run({ sample, folder, short }) {
    const name = 'steps of the clock';
    let library;
    try {
      library = compiled([join(import.meta.dirname, 'clock.cc')], ['-shared', '-fPIC', '-ldl']);
    } catch (error) {
      return {
        case: name,
        skipped: `the shim of the clock does not compile: ${error.message.split('\n')[0]}`,
      };
    }
    const file = join(folder, 'clock');
    writeFileSync(file, Buffer.alloc(8));
    const env = { ...process.env, LD_PRELOAD: library, LOREKEEP_CLOCK: file };
    const settings = {
      log_level: 'debug',
      log_flush_every_ms: 100,
      idle_shutdown_timeout: 3600,
      ...timeouts,
    };
    return withServer(name, sample, { settings, env }, async ({ server, problem, count, outcome }) => {
      for (const seconds of short ? steps.slice(2, 4) : [...steps, ...steps]) {
        step(file, seconds);
        const peer = await Peer.open(server.port);
        if ((await peer.request({ type: 'Ping', id: 1 }))?.type !== 'Pong')
          problem(`no answer after a step of ${seconds} s`);
        await peer.storage();
        await wait(300);
        peer.close();
        count();
      }
      const years = new Set([...server.printed().matchAll(/"time":"(\d+)/g)].map(([, year]) => year));
      outcome.note = `years in the log: ${[...years].join(', ')}`;
      if (years.size < 2) problem('the shim had no effect');
    });
  },
};

/** Off by so many seconds from now on. */
function step(path, seconds) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(seconds));
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, 8, 0);
  closeSync(file);
}
