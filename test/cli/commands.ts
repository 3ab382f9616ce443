import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type CommandOptions, type CommandResult, lorekeep } from './command.js';

/**
 * Returns a function that runs `lorekeep ...args` to its end as lorekeep() of command.ts does, but all command lines of the test
 * file one after the other in one process, which loads modules and the addon once. A command that reads, is watched, or is given
 * a variable that a process reads once has a process of its own. Tests of the start, of signals and of terminals call
 * lorekeep() itself.
 */
export function commandHost(): (args: readonly string[], options?: CommandOptions) => Promise<CommandResult> {
  let host: Host | undefined;
  let last: Promise<unknown> = Promise.resolve();
  afterAll(() => host?.stop());
  return (args, options = {}) => {
    const { stdin, onStart, onOutput, env = {} } = options;
    if (stdin !== undefined || onStart || onOutput || readOnce.some((name) => name in env))
      return lorekeep(args, options);
    const result = last.then(() => {
      if (host === undefined || host.ended) host = new Host();
      return host.run(args, options);
    });
    last = result.catch(() => {});
    return result;
  };
}

const readOnce = ['LOREKEEP_CACHE', 'LOREKEEP_KERNELS', 'LOREKEEP_RUNTIME', 'NODE_OPTIONS'];

const end = '\u001eend of the command\u001e';

class Host {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'command-host.mjs'), [end], {
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  readonly #stdout = new Piece(this.#child.stdout);
  readonly #stderr = new Piece(this.#child.stderr);
  readonly #closed = new Promise<number | null>((resolve) => this.#child.once('close', resolve));
  readonly #started = Promise.all([this.#stdout.take(), this.#stderr.take()]);
  ended = false;

  async run(args: readonly string[], { cwd, env }: CommandOptions): Promise<CommandResult> {
    await this.#started;
    const replied = new Promise<number>((resolve) =>
      this.#child.once('message', ({ status }: { status: number }) => resolve(status)),
    );
    this.#child.send({ args, cwd: cwd ?? process.cwd(), env: { ...process.env, ...env } });
    const status = await Promise.race([replied, this.#closed.then((code) => this.#end(code))]);
    const [stdout, stderr] = await Promise.all([this.#stdout.take(), this.#stderr.take()]);
    return { status, stdout, stderr };
  }

  /** A command may end the process. */
  #end(status: number | null): number | null {
    this.ended = true;
    this.#stdout.end();
    this.#stderr.end();
    return status;
  }

  stop(): Promise<unknown> {
    this.#child.kill('SIGKILL');
    return this.#closed;
  }
}

/** What a stream has given, command by command. */
class Piece {
  #text = '';
  #look = () => {};

  constructor(stream: NodeJS.ReadableStream | null) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      this.#text += text;
      this.#look();
    });
  }

  end(): void {
    this.#text += end;
    this.#look();
  }

  /** Resolves with everything up to the next end of a command. */
  async take(): Promise<string> {
    while (!this.#text.includes(end)) await new Promise<void>((resolve) => (this.#look = resolve));
    const at = this.#text.indexOf(end);
    const piece = this.#text.slice(0, at);
    this.#text = this.#text.slice(at + end.length);
    return piece;
  }
}
