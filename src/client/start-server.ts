import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { onAbort } from '../../lib/basics.js';
import { type ReadyLine, type ServerExit, ServerProcess } from './server-process.js';

export interface StartServerOptions {
  /** More flags of `lorekeep serve`, such as `['--idle-shutdown-timeout', '60']`. The port is free unless they name one. */
  args?: readonly string[] | undefined;
  /** Path of the config file, as `--config`; it must exist. Default: as for `lorekeep serve`. */
  config?: string | undefined;
  /** Folder for everything that the server writes where no config names a place, as `--data-dir`. */
  dataDir?: string | undefined;
  /** Environment variables in addition to this process's; undefined removes one. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Aborting stops a server that does not listen yet. A listening server needs close(). */
  signal?: AbortSignal | undefined;
  /** Time until the server listens, in ms. Default 30,000. */
  timeoutMs?: number | undefined;
}

/** A server in a process of its own, which ends with this process. Nothing restarts it. */
export interface StartedServer extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** The secret that clients need, made for this server; undefined if its config names an `access_token_file`. */
  readonly accessToken: string | undefined;
  /** Version of the server's package. */
  readonly version: string;
  /** Version of the protocol. */
  readonly protocol: number;
  /** What the server warned of while it started, such as a misspelt field of its config; at most 100. */
  readonly warnings: readonly string[];
  /** Resolves when the process has ended, for any reason. Never rejects. */
  readonly exited: Promise<ServerExit>;
  /** Stops the server as SIGTERM does, and waits for its end. A second call waits for the same end. */
  close(): Promise<ServerExit>;
}

/** The server did not start. The message ends with the last lines of its log. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';
  /** The last lines of the server's log. */
  readonly stderr: string;

  constructor(problem: string, stderr: string) {
    super(`the server did not start: ${problem}${stderr && `\n${stderr}`}`);
    this.stderr = stderr;
  }
}

const defaultTimeoutMs = 30_000;

/** Longest time of a Node.js timer, in ms. */
const longestTimeoutMs = 2 ** 31 - 1;

/**
 * Starts the server of this package in a process of its own and waits until it listens. It ends with this process, even
 * if this process is killed. `connect(server)` connects to it.
 * @throws ServerStartError; the signal's reason; TypeError or RangeError for an option. No process is left then.
 */
export async function startServer(options: StartServerOptions = {}): Promise<StartedServer> {
  const { args = [], config, dataDir, env = {}, signal, timeoutMs = defaultTimeoutMs } = options;
  checkNames(options);
  check(options, timeoutMs);
  signal?.throwIfAborted();
  // `lorekeep serve` would run with its defaults, without the access token or the storages that the caller meant.
  if (config !== undefined && !existsSync(config))
    throw new ServerStartError(`config: ${resolve(config)} does not exist`, '');
  const places = [
    ...(config === undefined ? [] : ['--config', config]),
    ...(dataDir === undefined ? [] : ['--data-dir', dataDir]),
  ];
  const server = new ServerProcess(['--port', '0', ...places, ...args], env);
  try {
    const ready = await listening(server, timeoutMs, signal);
    return started(server, ready);
  } catch (error) {
    server.kill('SIGKILL');
    await server.ended.catch(() => {});
    if (signal?.aborted && error === signal.reason) throw error;
    throw error instanceof ServerStartError
      ? error
      : new ServerStartError((error as Error).message, server.stderr);
  }
}

const optionNames: Record<keyof StartServerOptions, true> = {
  args: true,
  config: true,
  dataDir: true,
  env: true,
  signal: true,
  timeoutMs: true,
};

/** A misspelt `config` would start a server with the defaults. */
function checkNames(options: object): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(optionNames, name));
  if (unknown === undefined) return;
  const known = Object.keys(optionNames).join(', ');
  throw new TypeError(`startServer: ${unknown} is not an option; they are ${known}`);
}

/** A path given as an object, or a timer that would end at once, would be misread in silence. */
function check({ config, dataDir }: StartServerOptions, timeoutMs: number): void {
  if (config !== undefined && typeof config !== 'string')
    throw new TypeError('startServer: config: the path of a config file is expected');
  if (dataDir !== undefined && (typeof dataDir !== 'string' || dataDir === ''))
    throw new TypeError('startServer: dataDir: the path of a folder is expected');
  if (!(timeoutMs > 0 && timeoutMs <= longestTimeoutMs))
    throw new RangeError(`startServer: timeoutMs: a number from 1 to ${longestTimeoutMs} is expected`);
}

/** Waits for the first of: the server listens, it ends, the time is over, the signal is aborted. */
function listening(
  server: ServerProcess,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ReadyLine> {
  let release = () => {};
  const first = new Promise<ReadyLine>((resolve, reject) => {
    const late = () =>
      reject(new ServerStartError(`it did not listen within ${timeoutMs} ms`, server.stderr));
    const timer = setTimeout(late, timeoutMs);
    const stopListening = onAbort(signal, () => reject(signal?.reason));
    release = () => {
      clearTimeout(timer);
      stopListening();
    };
    server.ready.then(resolve, reject);
    server.ended.then((exit) => reject(new ServerStartError(ending(exit), exit.stderr)), reject);
  });
  return first.finally(release);
}

function ending({ code, signal }: ServerExit): string {
  return signal === null ? `it ended with status ${code}` : `${signal} ended it`;
}

function started(server: ServerProcess, ready: ReadyLine): StartedServer {
  const { port, pid, token: accessToken, version, protocol, warnings = [] } = ready;
  const { ended: exited } = server;
  let closing: Promise<ServerExit> | undefined;
  const close = () => {
    if (closing === undefined) server.kill('SIGTERM');
    closing ??= exited;
    return closing;
  };
  const dispose = async () => void (await close());
  const facts = { port, pid, accessToken, version, protocol, warnings };
  return { ...facts, exited, close, [Symbol.asyncDispose]: dispose };
}
