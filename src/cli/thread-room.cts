// Returns how many threads this process may start. Node.js aborts without a message if its pool for files gets none.
import fs = require('node:fs');
import path = require('node:path');

/** A process this far from every limit is not examined. Node.js has started its own threads by now. */
const enough = 64;

interface Limit {
  /** Names it for the user. */
  name: string;
  /** Threads that it leaves at least. */
  room: number;
}

interface ThreadRoom {
  /** Threads that can be started, at most `enough`. */
  threads: number;
  /** The limits that are near. */
  limits: string[];
}

function text(...parts: string[]): string {
  try {
    return fs.readFileSync(path.join('/', ...parts), 'utf8');
  } catch {
    return '';
  }
}

const numberIn = (found: RegExpExecArray | null): number => (found ? Number(found[1]) : Number.NaN);

/** The limit covers all threads of the user. Only the machine's total can be read cheaply; the user has at most that many. */
function userLimit(): Limit {
  const most = numberIn(/^Max processes +(\d+)/m.exec(text('proc', 'self', 'limits')));
  const used = numberIn(/^\S+ \S+ \S+ \d+\/(\d+)/.exec(text('proc', 'loadavg')));
  return { name: `${most} processes and threads of this user (ulimit -u)`, room: most - used };
}

/** Limits of the control groups above this process, of versions 1 and 2. */
function groupLimits(): Limit[] {
  const limits: Limit[] = [];
  for (const line of text('proc', 'self', 'cgroup').split('\n')) {
    const group = /^(?:0:|\d+:(?:[^:]*,)?pids(?:,[^:]*)?):(\/.*)$/.exec(line);
    if (group === null) continue;
    const mount = ['sys', 'fs', 'cgroup', line.startsWith('0::') ? '' : 'pids'];
    const names = (group[1] as string).split('/').filter(Boolean);
    for (let depth = names.length; depth >= 0; depth--) {
      const folder = [...mount, ...names.slice(0, depth)];
      const most = numberIn(/^(\d+)\s*$/.exec(text(...folder, 'pids.max')));
      const used = numberIn(/^(\d+)\s*$/.exec(text(...folder, 'pids.current')));
      limits.push({
        name: `${most} processes and threads of its control group (pids.max)`,
        room: most - used,
      });
    }
  }
  return limits;
}

/** Counts threads by starting them, because the use of a limit cannot be read everywhere. Undefined without the addon. */
function startable(root: string): number | undefined {
  try {
    const addon = require('node-gyp-build')(root) as { startableThreads(most: number): number };
    return addon.startableThreads(enough);
  } catch {
    return undefined; // The caller that needs the addon reports why it does not load.
  }
}

/** The result of the first call. */
let known: { room: ThreadRoom | undefined } | undefined;

/** Undefined if no limit is near. Where it is not, the addon is loaded. `root`: the folder of the package. */
function threadRoom(root: string): ThreadRoom | undefined {
  known ??= { room: countRoom(root) };
  return known.room;
}

function countRoom(root: string): ThreadRoom | undefined {
  if (process.platform !== 'linux') return undefined;
  // A number that cannot be read is NaN, which is below nothing.
  const near = [userLimit(), ...groupLimits()].filter(({ room }) => room < enough);
  if (near.length === 0) return undefined;
  const threads = startable(root);
  return threads === undefined ? undefined : { threads, limits: near.map(({ name }) => name) };
}

export = threadRoom;
