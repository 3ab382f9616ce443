// Binds this process, every thread of it, to one core, so that what it does with many threads can be told from what it does with one.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** @throws where there is no way to do it: it takes Linux, and taskset (util-linux) */
export function bindToOneCore() {
  try {
    const allowed = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1];
    execFileSync('taskset', ['-a', '-c', '-p', allowed, String(process.pid)], { stdio: 'ignore' });
  } catch (error) {
    throw new Error(`a process can't be bound to one core here: ${error.message}`);
  }
}
