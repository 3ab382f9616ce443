// Resident memory of this process in bytes: all of it, and of it what is not a mapped file (which the kernel may drop).
import { existsSync, readFileSync } from 'node:fs';

const status = '/proc/self/status';

export function residentBytes() {
  if (!existsSync(status)) return { all: process.memoryUsage().rss };
  const text = readFileSync(status, 'utf8');
  const field = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) * 1024;
  return { all: field('VmRSS'), anonymous: field('RssAnon'), file: field('RssFile'), peak: field('VmHWM') };
}

/** Growth of this process's resident memory during `work`, in bytes, and the time it took. */
export async function grownBy(work) {
  globalThis.gc?.();
  const before = residentBytes();
  const begin = performance.now();
  await work();
  const ms = performance.now() - begin;
  globalThis.gc?.();
  const after = residentBytes();
  return { ms, all: after.all - before.all, anonymous: after.anonymous - before.anonymous };
}
