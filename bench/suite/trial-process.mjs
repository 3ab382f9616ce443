// Runs one trial's program in a process of its own, in a group with the processes that it starts, so that all of them can be ended.
import { fork } from 'node:child_process';
import { platform } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const groups = platform() !== 'win32';
const bench = new URL('../', import.meta.url);
const keptLines = 30;

export class TrialProcess {
  #child;
  #lines = [];
  #result;
  #late = false;
  #timer;

  /** @param say called with each line that the program prints */
  constructor(program, args, limitMinutes, say) {
    this.limitMinutes = limitMinutes;
    this.#child = fork(fileURLToPath(new URL(program, bench)), args, {
      detached: groups,
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.#lines = [...this.#lines, line].slice(-keptLines);
        say(line);
      });
    }
    this.#child.on('message', ({ result }) => {
      this.#result = result;
    });
    this.#timer = setTimeout(() => {
      this.#late = true;
      this.kill();
    }, limitMinutes * 60_000);
  }

  /** @returns {status, reason?, result?}: "ok"; "partly" (a contestant failed); "failed"; "out of time" */
  async finished() {
    const [code, signal] = await new Promise((ended) => {
      this.#child.once('error', (error) => ended([error.message]));
      this.#child.once('close', (...how) => ended(how));
    });
    clearTimeout(this.#timer);
    if (this.#late) return { status: 'out of time', reason: `not done in ${this.limitMinutes} minutes` };
    const result = this.#result;
    if (result === undefined) {
      this.kill(); // what it started may be left
      return { status: 'failed', reason: this.#reason(signal ?? `exit status ${code}`) };
    }
    return { status: result.failed.length > 0 ? 'partly' : 'ok', result };
  }

  /** The program and all that it started. */
  kill() {
    try {
      if (groups) process.kill(-this.#child.pid, 'SIGKILL');
      else this.#child.kill('SIGKILL');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }

  #reason(how) {
    const line =
      this.#lines.find((one) => /^(\w*Error|\w+): /.test(one) && /[Ee]rror/.test(one)) ?? this.#lines.at(-1);
    return line ? `${line.trim()} (${how})` : String(how);
  }
}
