import { readFileSync } from 'node:fs';
import { processExists } from '../../lib/basics.js';
import { UsageError } from './failure.js';

/** Interval of the checks on the parent, in ms. */
const lookEveryMs = 250;

/** A process by its pid, and by its start time where the system has it: a pid is used again after its process has ended. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since boot. Linux only. */
  readonly startTime?: string | undefined;
}

/** Returns the process that has the pid now; undefined if there is none, or if it has ended and is only not reaped yet. */
export function findProcess(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  if (stat === 'none' || (stat === 'unknown' && !processExists(pid))) return undefined;
  return stat === 'unknown' ? { pid } : { pid, startTime: stat.startTime };
}

/** Whether the process runs. Another process with the same pid does not count. */
export function isRunning({ pid, startTime }: ProcessIdentity): boolean {
  if (startTime === undefined) return processExists(pid);
  const stat = readStat(pid);
  if (stat === 'none') return false;
  return stat === 'unknown' ? processExists(pid) : stat.startTime === startTime;
}

/**
 * Returns the pid of the `npx lorekeep` that runs this process: its parent, or the parent of the shell between them.
 * npx ends without it when it is killed, and so does that shell at SIGTERM.
 */
export function npxPid(env = process.env, parent = process.ppid): number | undefined {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = env;
  if (event !== 'npx' || !script.includes('lorekeep')) return undefined;
  const stat = readStat(parent);
  const pid = typeof stat === 'object' && /^(ba|da)?sh$/.test(stat.name) ? stat.parent : parent;
  return pid > 1 && findProcess(pid) !== undefined ? pid : undefined;
}

/**
 * Calls `onEnd` once when the process `pid` has ended, however it ended. Never keeps this process alive.
 * @throws UsageError if no process has the pid
 */
export function watchParent(pid: number, onEnd: () => void): void {
  const parent = pid === process.pid ? undefined : findProcess(pid);
  if (parent === undefined)
    throw new UsageError(
      `--parent-pid: no other process has the pid ${pid}; the pid of the program is expected`,
    );
  const timer = setInterval(() => {
    if (isRunning(parent)) return;
    clearInterval(timer);
    onEnd();
  }, lookEveryMs);
  timer.unref();
}

interface Stat {
  /** Name of the program, at most 15 characters. */
  name: string;
  parent: number;
  startTime: string;
}

/**
 * Reads /proc/PID/stat. 'none': no process runs there. 'unknown': the system has no such file, or it cannot be read now,
 * as when this process is out of descriptors.
 */
function readStat(pid: number): Stat | 'none' | 'unknown' {
  if (process.platform !== 'linux') return 'unknown';
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses, and may contain both. The third is the state.
    const end = text.lastIndexOf(')');
    const fields = text.slice(end + 2).split(' ');
    const [state, parent, startTime] = [fields[0], fields[1], fields[19]];
    if (startTime === undefined) return 'unknown';
    const name = text.slice(text.indexOf('(') + 1, end);
    return state === 'Z' || state === 'X' ? 'none' : { name, parent: Number(parent), startTime };
  } catch (error) {
    // Also absent where /proc is not mounted, or hides the processes of others: processExists() decides.
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ESRCH' ? 'none' : 'unknown';
  }
}
