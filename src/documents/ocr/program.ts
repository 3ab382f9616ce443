import { spawn } from 'node:child_process';

/** Bounds of one run of a program. */
export interface ProgramLimits {
  ms: number;
  /** Address space. Not bounded where the system has no `ulimit -v`. */
  bytes: number;
  outputBytes: number;
}

/** How a program ended. */
export interface ProgramEnd {
  /** Undefined: it was killed by a signal. */
  status: number | undefined;
  output: Buffer;
  /** The end of what it said on standard error. */
  said: string;
  /** Why it was stopped. */
  stopped?: 'time' | 'output';
}

/** A program that is not installed. */
export class MissingProgram extends Error {
  override readonly name = 'MissingProgram';
}

const longestSaid = 2000;

/**
 * Runs a program of the system with bounds. `input` is its standard input. It is killed when the signal aborts.
 * @throws MissingProgram; system errors; the signal's reason
 */
export async function runProgram(
  [name, ...args]: readonly [string, ...string[]],
  input: Uint8Array | undefined,
  limits: ProgramLimits,
  signal: AbortSignal | undefined,
): Promise<ProgramEnd> {
  signal?.throwIfAborted();
  const [command, ...all] = bounded(name, args, limits);
  const child = spawn(command as string, all, {
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // Threads of its own would take the processor from its neighbours.
    env: { ...process.env, OMP_THREAD_LIMIT: '1' },
  });
  const kill = () => void child.kill('SIGKILL');
  signal?.addEventListener('abort', kill, { once: true });
  let stopped: ProgramEnd['stopped'];
  const stop = (reason: 'time' | 'output') => {
    stopped ??= reason;
    kill();
  };
  const timer = setTimeout(() => stop('time'), limits.ms);
  const pieces: Buffer[] = [];
  let length = 0;
  let said = '';
  child.stdout.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > limits.outputBytes) stop('output');
    else pieces.push(piece);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-longestSaid);
  });
  // A program may end without reading all of its input.
  child.stdin.on('error', () => {});
  try {
    const ended = new Promise<number | undefined>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status) => resolve(status ?? undefined));
    });
    if (input !== undefined) child.stdin.write(input);
    child.stdin.end();
    const status = await ended;
    signal?.throwIfAborted();
    if (status === notFound && command === 'sh') throw new MissingProgram(name);
    return { status, output: Buffer.concat(pieces), said: said.trim(), ...(stopped && { stopped }) };
  } catch (error) {
    signal?.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new MissingProgram(name);
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', kill);
    kill();
  }
}

/** Status of a shell that finds no such program. */
const notFound = 127;

/** Limits that stay in force if this process is gone. The shell becomes the program, so that one process is to be killed. */
const limiting = 'ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec "$@"';

function bounded(name: string, args: readonly string[], { ms, bytes }: ProgramLimits): string[] {
  if (process.platform === 'win32') return [name, ...args];
  const kibibytes = Math.ceil(bytes / 1024);
  const seconds = Math.ceil(ms / 1000);
  return ['sh', '-c', limiting, 'sh', `${kibibytes}`, `${seconds}`, name, ...args];
}
