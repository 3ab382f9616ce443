// Signals that must not end the server, nor open a debugger.
import { readFileSync } from 'node:fs';
import { wait } from '../../server/server-process.mjs';
import { withServer } from './with-server.mjs';

const harmless = ['SIGHUP', 'SIGPIPE', 'SIGUSR1', 'SIGWINCH', 'SIGCONT', 'SIGCHLD', 'SIGURG'];

export const signals = {
  name: 'signals',
  run: ({ sample }) =>
    withServer('signals', sample, {}, async ({ server, problem, count }) => {
      const before = listening(server.pid);
      for (const signal of harmless) {
        if (!server.running()) break;
        process.kill(server.pid, signal);
        await wait(200);
        count();
        if (!server.running()) problem(`${signal} ends the server`);
        else if (listening(server.pid) > before) problem(`${signal} opens a port`);
      }
    }),
};

/** How many TCP sockets of this machine listen: a debugger's would be one more. */
function listening() {
  const listen = /^\s*\d+: \S+ \S+ 0A /gm;
  return [...readFileSync('/proc/net/tcp', 'utf8').matchAll(listen)].length;
}
