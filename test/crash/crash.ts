import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addonFile } from '../../lib/internal.js';

const tools: {
  crashTools(): Promise<{ dumpSyms: string; stackwalk: string }>;
  writeSymbols(dumpSyms: string, file: string, into: string): string;
} = await import(new URL('../../scripts/tool/crash-tools.mjs', import.meta.url).href);

/** Crash dumps exist on Linux only. */
export const dumpsExist = process.platform === 'linux';

export interface Crash {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
  /** The dumps in the folder. */
  dumps: string[];
}

const children = join(import.meta.dirname, 'children');

/** Runs a script of children/ until it ends, by itself or by a crash. `wrapper` is a command that starts it. */
export function runToItsEnd(
  script: string,
  [folder, ...args]: readonly [string, ...string[]],
  options: { env?: NodeJS.ProcessEnv; execArgv?: string[]; wrapper?: string[] } = {},
): Promise<Crash> {
  const { env = {}, execArgv = [], wrapper = [] } = options;
  const node = [process.execPath, ...execArgv, join(children, script), folder, ...args];
  const [command, ...rest] = [...wrapper, ...node] as [string, ...string[]];
  return new Promise((resolve, reject) => {
    const child = spawn(command, rest, {
      env: { ...process.env, ...env },
      cwd: children,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, output, dumps: dumpsIn(folder) }));
  });
}

export function dumpsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.dmp'))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

export function emptyFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

function systemLibraries(): string[] {
  const report: unknown = process.report?.getReport();
  const { sharedObjects } = report as { sharedObjects: string[] };
  return sharedObjects.filter((path) => /\/lib(c|pthread|stdc\+\+|gcc_s)\.so\.\d+$/.test(path));
}

/** Walks dumps with minidump_stackwalk and the addon's symbols. */
export class Walker {
  readonly symbols: string;
  readonly #stackwalk: string;

  private constructor(stackwalk: string, symbols: string) {
    this.#stackwalk = stackwalk;
    this.symbols = symbols;
  }

  static async create(symbols: string): Promise<Walker> {
    const { dumpSyms, stackwalk } = await tools.crashTools();
    // An abort passes through the system's libraries: their unwinding tables are needed, too.
    for (const file of [addonFile, ...systemLibraries()]) tools.writeSymbols(dumpSyms, file, symbols);
    return new Walker(stackwalk, symbols);
  }

  /** Returns the frames of the crashed thread, and of all threads. */
  async walk(dump: string): Promise<{ crashed: string[]; all: string[] }> {
    const { stdout } = await promisify(execFile)(this.#stackwalk, ['-m', dump, this.symbols], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const lines = stdout.split('\n');
    const crashed = /^Crash\|[^|]*\|[^|]*\|(\d+)$/m.exec(stdout)?.[1];
    const frames = lines.filter((line) => /^\d+\|\d+\|/.test(line)).map((line) => line.split('|'));
    const names = (list: string[][]) => list.map(([, , , name = '']) => name);
    return { crashed: names(frames.filter(([thread]) => thread === crashed)), all: names(frames) };
  }
}
