import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const project = join(import.meta.dirname, '../..');
export const program = join(project, 'dist/src/cli/main.js');

export interface CommandOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** What the program reads. Default: nothing. */
  stdin?: string;
  onStart?: (child: ChildProcess) => void;
  /** Called with everything printed so far, and again when there is more. */
  onOutput?: (printed: string, child: ChildProcess) => void;
}

export interface CommandResult {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `lorekeep ...args` of the built package in a process of its own, to its end. */
export function lorekeep(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return run(process.execPath, [program, ...args], options);
}

/** Runs a shell's command line. */
export function shell(line: string, options: CommandOptions = {}): Promise<CommandResult> {
  return run('/bin/sh', ['-c', line], options);
}

/**
 * Runs `lorekeep ...args` on a terminal of that many columns. `steps`: each text that is waited for, and what is typed
 * then.
 */
export function onTerminal(
  columns: number,
  args: readonly string[],
  steps: readonly string[] = [],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const script = [join(import.meta.dirname, 'terminal.py'), String(columns), ...steps];
  const env = { TERM: 'xterm-256color', ...options.env };
  return run('python3', [...script, '--', process.execPath, program, ...args], { ...options, env });
}

/** Why there is no pseudo terminal to test with, or undefined. Windows has none; Python makes it. */
export function noTerminal(): string | undefined {
  if (process.platform === 'win32') return 'no pseudo terminals on Windows';
  const python = spawnSync('python3', ['-c', 'import pty, os; os.waitstatus_to_exitcode']);
  return python.status === 0 ? undefined : 'python3 (3.9 or newer) is not there';
}

function run(file: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  if (!existsSync(program)) throw new Error(`${program} is not there: npm run build makes it`);
  const child = spawn(file, args, { cwd: options.cwd, env: { ...process.env, ...options.env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  options.onStart?.(child);
  let stdout = '';
  let stderr = '';
  const look = () => options.onOutput?.(stdout + stderr, child);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    look();
  });
  // A command that has ended does not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(options.stdin ?? '');
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, stdout, stderr }));
  });
}
