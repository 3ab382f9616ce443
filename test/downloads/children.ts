import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

const module = new URL('../../dist/src/models/downloads/model-downloads.js', import.meta.url).href;

const script = `
const { ModelDownloads } = await import(${JSON.stringify(module)});
const { folder, url, sha256 } = JSON.parse(process.argv[1]);
const onProgress = ({ done }) => process.stdout.write(done + '\\n');
await new ModelDownloads(folder).pull({ url, sha256 }, { signal: new AbortController().signal, onProgress, retryMs: 1 });
`;

const killer = new URL('kill-before-change.mjs', import.meta.url).href;
const intruder = new URL('appear-before-rename.mjs', import.meta.url).href;

/** A process that downloads one file, whose name somebody else gives to a file of his own just before the last step. */
export const pullBesideIntruder = (options: object) => pullInChild(options, {}, ['--import', intruder]);

/**
 * A process that downloads one file and is killed before its change number `count` of the file system. Returns the name of
 * that operation, or undefined if the process has fewer and ends by itself.
 */
export async function pullKilledBefore(count: number, options: object): Promise<string | undefined> {
  const variables = { KILL_BEFORE_CHANGE: String(count) };
  const { ended, errors } = pullInChild(options, variables, ['--import', killer]);
  const status = await ended;
  // A process that is killed on Windows ends with 1.
  const killed = status === null || (process.platform === 'win32' && /^\w+\s*$/.test(errors()));
  if (killed) return errors().trim();
  if (status !== 0) throw new Error(errors());
  return undefined;
}

/** A process that downloads one file and prints how far it is. */
export function pullInChild(
  options: object,
  environment: NodeJS.ProcessEnv = {},
  nodeFlags: readonly string[] = [],
) {
  const child: ChildProcess = spawn(
    process.execPath,
    [...nodeFlags, '--input-type=module', '--eval', script, JSON.stringify(options)],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let done = 0;
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    done = Number(text.trim().split('\n').at(-1));
  });
  const ended = once(child, 'close').then(([status]) => status as number | null);
  return {
    ended,
    errors: () => errors,
    kill: () => child.kill('SIGKILL'),
    /** Resolves when so many bytes have arrived. */
    async reached(bytes: number): Promise<void> {
      while (done < bytes) await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    },
  };
}
