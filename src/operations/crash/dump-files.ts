import { closeSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Number of crash dumps kept in a folder. */
export const maxKept = 5;

const ownName = /^crash-\d{8}T\d{6}Z-\d+\.dmp$/;
const minidumpSignature = 'MDMP';

export interface DumpFile {
  path: string;
  /** Time of the crash. */
  at: Date;
}

/** `crash-20260102T030405Z-1234.dmp`: the start and the id of the process that may crash. */
export function dumpName(start: Date, pid: number): string {
  const time = start.toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '');
  return `crash-${time}-${pid}.dmp`;
}

/** Lists the crash dumps in a folder, newest first: files with our name that are minidumps. Empty for an absent folder. */
export function ownDumps(folder: string): DumpFile[] {
  const dumps: DumpFile[] = [];
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    if (ownName.test(name) && isMinidump(path)) dumps.push({ path, at: statSync(path).mtime });
  }
  return dumps.sort((a, b) => b.at.getTime() - a.at.getTime() || (a.path < b.path ? 1 : -1));
}

/** Deletes the oldest dumps beyond `maxKept`. Returns the dump that the next one replaces; undefined if there is room. */
export function makeRoom(dumps: readonly DumpFile[]): string | undefined {
  for (const { path } of dumps.slice(maxKept)) rmSync(path, { force: true });
  return dumps[maxKept - 1]?.path;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isMinidump(path: string): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    const file = openSync(path, 'r');
    try {
      const head = Buffer.alloc(minidumpSignature.length);
      readSync(file, head, 0, head.length, 0);
      return head.toString('latin1') === minidumpSignature;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
