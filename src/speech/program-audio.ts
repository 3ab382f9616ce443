import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';

/** A program that writes 16-bit samples on its stdout, mono at `programRate`. */
export interface SampleProgram {
  readonly program: string;
  readonly args: readonly string[];
}

/** Samples a second of what programs write. */
export const programRate = 16_000;

/** A program that is not installed, or that failed; the message is its own last line. */
export class SampleProgramError extends Error {
  override readonly name = 'SampleProgramError';
  readonly isAbsent: boolean;

  constructor(message: string, isAbsent: boolean) {
    super(message);
    this.isAbsent = isAbsent;
  }
}

/** A minute of samples, which wait while those before them are recognised: a microphone loses what nobody reads. */
const aheadBytes = 60 * 2 * programRate;

/** What a program may say on stderr before its beginning is forgotten. */
const keptText = 1000;

/**
 * The samples that a program writes, in [-1, 1], while it runs. It is ended with the generator, and for `stop`, after which
 * the samples that it wrote still come. @throws SampleProgramError, the signal's reason
 */
export async function* programSamples(
  { program, args }: SampleProgram,
  signal: AbortSignal,
  stop?: AbortSignal,
): AsyncGenerator<Float32Array, void, undefined> {
  signal.throwIfAborted();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal, windowsHide: true });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-keptText);
  });
  const samples = child.stdout.pipe(new PassThrough({ highWaterMark: aheadBytes }), { end: false });
  child.stdout.once('close', () => samples.end());
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  closed.catch(() => {});
  failed.catch(() => {});
  const end = () => child.kill();
  stop?.addEventListener('abort', end, { once: true });
  if (stop?.aborted) end();
  try {
    let odd: Buffer = Buffer.alloc(0);
    for await (const chunk of samples as AsyncIterable<Buffer>) {
      const bytes = odd.length > 0 ? Buffer.concat([odd, chunk]) : chunk;
      const whole = bytes.length - (bytes.length % 2);
      odd = bytes.subarray(whole);
      yield Float32Array.from({ length: whole / 2 }, (_, i) => bytes.readInt16LE(2 * i) / 32_768);
    }
    const [code, ending] = await Promise.race([closed, failed]);
    if (code !== 0 && !stop?.aborted)
      throw new SampleProgramError(
        said.trim().split('\n').at(-1) || `it ended with ${ending ?? code}`,
        false,
      );
  } catch (error) {
    signal.throwIfAborted();
    throw (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? new SampleProgramError(`${program} is not installed`, true)
      : error;
  } finally {
    stop?.removeEventListener('abort', end);
    child.stdout.destroy();
    child.kill();
  }
}
