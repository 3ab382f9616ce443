import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

/** The system's reports on memory. */
export interface MemorySources {
  /** Root of the files of control groups and processes. Default: "/". */
  root?: string;
  /** Free bytes of the machine, caches included. */
  machine?: number;
}

/**
 * Returns the bytes that this process can still take without swapping or being killed: free memory of the machine, caches
 * included, within the limits of all control groups of the process (versions 1 and 2).
 */
export function availableMemory({ root = '/', machine = freemem() }: MemorySources = {}): number {
  const text = (...parts: string[]) => {
    try {
      return readFileSync(join(root, ...parts), 'utf8');
    } catch {
      return '';
    }
  };
  const groups = text('proc', 'self', 'cgroup').split('\n');
  const of = (pattern: RegExp) => groups.map((line) => pattern.exec(line)?.[1]).find(Boolean);
  const unified = ancestors(of(/^0::(\/.*)$/)).map((path) =>
    leftIn((name) => text('sys', 'fs', 'cgroup', path, name), version2),
  );
  const legacy = ancestors(of(/^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/)).map((path) =>
    leftIn((name) => text('sys', 'fs', 'cgroup', 'memory', path, name), version1),
  );
  return Math.max(0, Math.min(machine, ...unified, ...legacy));
}

const version2 = { limit: 'memory.max', used: 'memory.current', cache: 'inactive_file' };
const version1 = {
  limit: 'memory.limit_in_bytes',
  used: 'memory.usage_in_bytes',
  cache: 'total_inactive_file',
};

/** Returns the memory that a control group leaves; caches that the kernel can drop are not used memory. */
function leftIn(read: (name: string) => string, { limit, used, cache }: typeof version2): number {
  const number = (text: string) => (/^\d+\s*$/.test(text) ? Number(text) : undefined);
  const most = number(read(limit));
  const taken = number(read(used));
  if (most === undefined || taken === undefined) return Number.POSITIVE_INFINITY;
  const inactive = Number(new RegExp(`^${cache} (\\d+)$`, 'm').exec(read('memory.stat'))?.[1] ?? 0);
  return most - taken + inactive;
}

/** Returns a path and the folders above it, "/" included. */
function ancestors(path: string | undefined): string[] {
  if (path === undefined) return [];
  const names = path.split('/').filter(Boolean);
  return names.map((_, index) => names.slice(0, names.length - index).join('/')).concat('');
}
