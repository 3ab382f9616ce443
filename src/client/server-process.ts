import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** How a server's process ended. */
export interface ServerExit {
  /** The exit status; null if a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last lines of its log. */
  stderr: string;
}

/** The JSON line of `lorekeep serve --parent-pid`. */
export interface ReadyLine {
  port: number;
  pid: number;
  token?: string;
  version: string;
  protocol: number;
  warnings?: string[];
}

/** Kept of the server's log, in characters. */
const tailLength = 8192;

/** Longer first lines are not the server's, in characters. */
const longestLine = 65_536;

/** `lorekeep serve` in a process of its own, which ends with this process. */
export class ServerProcess {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  #log = '';
  /** Resolves with the first line on stdout; never, if there is none. Rejects if it is not the server's. */
  readonly ready: Promise<ReadyLine>;
  /** Resolves when the process has ended. Rejects if it could not be started. */
  readonly ended: Promise<ServerExit>;

  /** @throws Error if the command is not next to this module, as in a bundle */
  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    const all = [commandFile(), 'serve', '--parent-pid', String(process.pid), ...args];
    this.#child = spawn(process.execPath, all, {
      // A program that embeds Node, such as Electron, runs as Node.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    // Read to its end: a full pipe would hold up the server's log.
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#log = (this.#log + text).slice(-tailLength);
    });
    this.ready = readyLine(this.#child.stdout);
    this.ended = new Promise((resolve, reject) => {
      this.#child.on('error', (error) => {
        // Otherwise a signal was refused, and the process runs on.
        if (this.#child.pid === undefined) reject(error);
      });
      this.#child.once('close', (code, signal) => resolve({ code, signal, stderr: this.stderr }));
    });
    for (const promise of [this.ready, this.ended]) promise.catch(() => {});
  }

  /** The last whole lines of its log. */
  get stderr(): string {
    const cut = this.#log.length === tailLength ? this.#log.indexOf('\n') + 1 : 0;
    return this.#log.slice(cut).trimEnd();
  }

  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#child.kill(signal);
  }
}

function commandFile(): string {
  const sea = process.getBuiltinModule?.('node:sea') as { isSea(): boolean } | undefined;
  if (sea?.isSea()) {
    throw new Error(
      'startServer: this program is a single executable without a Node.js to run the server; ship one, and run `node node_modules/lorekeep/dist/src/cli/lorekeep.cjs serve --parent-pid PID` (docs/guides/shipping.md)',
    );
  }
  // Bundlers that emit CommonJS leave import.meta.url undefined.
  const url = import.meta.url as string | undefined;
  if (url?.startsWith('file:')) {
    const file = join(dirname(fileURLToPath(url)), '..', 'cli', 'lorekeep.cjs');
    // Electron: the package next to its asar archive, if it was unpacked there.
    const unpacked = file.replace(/\.asar(?=[\\/])/, '.asar.unpacked');
    if (existsSync(unpacked)) return unpacked;
    if (existsSync(file)) return file;
  }
  throw new Error(
    'startServer: lorekeep/client was bundled or copied without its package, so there is no server to start; keep lorekeep out of the bundle (docs/guides/shipping.md)',
  );
}

function readyLine(stdout: Readable): Promise<ReadyLine> {
  return new Promise((resolve, reject) => {
    let text = '';
    let told = false;
    stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (told) return;
      text += chunk;
      const end = text.indexOf('\n');
      told = end >= 0 || text.length > longestLine;
      if (!told) return;
      try {
        resolve(JSON.parse(text.slice(0, end)) as ReadyLine);
      } catch {
        reject(
          new Error(`a line of JSON is expected on its stdout, not ${JSON.stringify(text.slice(0, 200))}`),
        );
      }
    });
  });
}
