import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a script of children/ on the built package, and returns the last line that it prints, which is JSON. */
export async function runJson<Found>(
  script: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Found> {
  const path = fileURLToPath(new URL(`children/${script}`, import.meta.url));
  const env = { ...process.env, ...environment };
  const { stdout } = await run(process.execPath, [path, ...args], { env, maxBuffer: 64 << 20 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Found;
}

/** Cosine of two vectors. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, index) => sum + value * (y[index] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
