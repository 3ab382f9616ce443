// Signals that must not end the server, nor open a debugger.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { wait } from '../../server/server-process.mjs';
import { withServer } from './with-server.mjs';

const harmless = ['SIGHUP', 'SIGPIPE', 'SIGUSR1', 'SIGWINCH', 'SIGCONT', 'SIGCHLD', 'SIGURG'];
/** The state of a listening socket in /proc/net/tcp. */
const listens = '0A';

export const signals = {
  name: 'signals',
  run: ({ sample }) =>
    withServer('signals', sample, {}, async ({ server, problem, count }) => {
      const before = listening(server.pid);
      if (before !== 1) problem(`${before} sockets listen`);
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

/** How many TCP sockets of a process listen: a debugger's would be one more. */
function listening(pid) {
  const folder = `/proc/${pid}/fd`;
  const links = readdirSync(folder).map((name) => link(join(folder, name)));
  const own = new Set(links.map((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1]));
  const rows = ['tcp', 'tcp6'].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n'),
  );
  return rows.map((row) => row.trim().split(/\s+/)).filter((row) => row[3] === listens && own.has(row[9]))
    .length;
}

function link(path) {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed meanwhile
  }
}
