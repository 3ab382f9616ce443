import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const project = join(import.meta.dirname, '../..');

/** A program of the built package in a process of its own. */
export class Program {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #looking: (() => void)[] = [];

  private constructor(child: ChildProcess) {
    this.child = child;
    const look = () => {
      for (const resolve of this.#looking.splice(0)) resolve();
    };
    child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
      look();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        resolve({ code, signal });
        look();
      });
    });
    onTestFinished(() => void child.kill('SIGKILL'));
  }

  /** Runs a file of the project, as `node file ...args`. */
  static run(file: string, ...args: string[]): Program {
    return Program.runIn([], file, ...args);
  }

  /** The same by way of another command, such as `nice`. */
  static runIn(wrapper: readonly string[], file: string, ...args: string[]): Program {
    const path = join(project, file);
    if (!existsSync(path)) throw new Error(`${file} is not there: npm run build makes it`);
    const [command, ...rest] = [...wrapper, process.execPath, path, ...args] as [string, ...string[]];
    return new Program(spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Runs another program. */
  static command([command, ...args]: readonly [string, ...string[]]): Program {
    return new Program(spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Resolves with what matched, once the program has printed it. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match !== null) return match;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`ended without printing ${pattern}:\n${this.stdout}\n${this.stderr}`);
      }
      await new Promise<void>((resolve) => this.#looking.push(resolve));
    }
  }
}
