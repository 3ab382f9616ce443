import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ChildResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
  /** What the child sent with process.send, in order. */
  messages: unknown[];
}

/** Runs a script of test/lifecycle/children, or of another folder given relative to this one, in a process of its own, on the built package in dist/. */
export function runChild(
  script: string,
  args: readonly string[] = [],
  options: {
    execArgv?: string[];
    env?: Record<string, string>;
    onMessage?: (child: ChildProcess, message: unknown) => void;
  } = {},
): Promise<ChildResult> {
  const path = fileURLToPath(new URL(script, new URL('../lifecycle/children/', import.meta.url)));
  return new Promise((resolve, reject) => {
    const child = fork(path, args, {
      execArgv: options.execArgv ?? [],
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let output = '';
    const messages: unknown[] = [];
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on('message', (message) => {
      messages.push(message);
      options.onMessage?.(child, message);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, output, messages }));
  });
}
