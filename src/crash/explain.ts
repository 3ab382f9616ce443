import { constants } from 'node:os';
import { basename } from 'node:path';
import type { DumpModule, DumpThread, Minidump } from './minidump.js';
import type { Symbols } from './symbols.js';

/** A place in the code of a process that crashed. */
export interface CodePlace {
  /** File name of the program or library; undefined outside of all, as code that V8 compiled is. */
  module: string | undefined;
  /** Distance from the module's start, in hexadecimal. */
  offset: string;
  function: string | undefined;
}

export interface Explanation {
  at: string;
  signal: string;
  meaning: string;
  /** The address whose use raised the signal; absent for signals without one. */
  address?: string;
  thread: number;
  threads: number;
  place: CodePlace | undefined;
  /** Return addresses on the crashed thread's stack, innermost first; old ones may be among them. */
  callers: CodePlace[];
  /** Builds of the modules in `place` and `callers`, by file name, as symbol files name them. */
  builds: Record<string, string>;
}

const meanings: Record<string, string> = {
  SIGSEGV: 'the program accessed memory that is unmapped or protected',
  SIGBUS: 'a mapped file was truncated, or memory failed',
  SIGILL: 'the processor does not support an instruction',
  SIGFPE: 'an integer was divided by zero',
  SIGTRAP: 'a check of V8 failed',
  SIGABRT: 'the program aborted: a failed check, an uncaught exception, or no memory',
};

/** The others have a process id in the place of the address. */
const addressed: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP']);

/** Number of callers listed. */
const maxCallers = 24;

/** Says in which function a process crashed, and probably on which path it came there. */
export function explainCrash(dump: Minidump, symbols: Symbols | undefined): Explanation {
  const places = dump.crashed === undefined ? [] : codePlaces(dump, dump.crashed, symbols);
  const [place, ...callers] = places.map(({ place }) => place);
  const modules = places.map(({ module }) => module).filter((module) => module !== undefined);
  const signal = signalName(dump.signal);
  return {
    at: dump.at.toISOString(),
    signal,
    meaning: meanings[signal] ?? 'a signal that ends a process',
    ...(addressed.has(signal) && { address: hexadecimal(dump.address) }),
    thread: dump.crashed?.id ?? 0,
    threads: dump.threads.length,
    place,
    callers,
    builds: Object.fromEntries(modules.map(({ path, id }) => [basename(path), id])),
  };
}

function codePlaces({ modules }: Minidump, thread: DumpThread, symbols: Symbols | undefined) {
  const found: { place: CodePlace; module: DumpModule | undefined }[] = [];
  const add = (address: bigint, before: bigint, always: boolean) => {
    const module = modules.find(({ base, size }) => address >= base && address < base + BigInt(size));
    if (module === undefined && !always) return;
    const offset = module === undefined ? address : address - module.base;
    found.push({
      module,
      place: {
        module: module && basename(module.path),
        offset: hexadecimal(offset),
        function: module && symbols?.at(module, Number(offset - before)),
      },
    });
  };
  add(thread.instruction, 0n, true);
  for (const word of thread.stack) {
    if (found.length > maxCallers) break;
    // A return address is the one after the call.
    add(word, 1n, false);
  }
  return found;
}

function signalName(signal: number): string {
  const known = Object.entries(constants.signals).find(([, number]) => number === signal);
  return known?.[0] ?? `signal ${signal}`;
}

const hexadecimal = (value: bigint) => `0x${value.toString(16)}`;
