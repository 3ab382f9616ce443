import { constants } from 'node:os';
import { expect, it } from 'vitest';
import { explainCrash } from '../../src/crash/explain.js';
import { type Minidump, readMinidump } from '../../src/crash/minidump.js';

const dumpOf = (signal: number): Minidump => ({
  at: new Date(0),
  signal,
  address: 0x79cdn,
  threads: [],
  crashed: undefined,
  modules: [],
});

it.each(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP'] as const)('%s has its address', (name) => {
  const { signal, address } = explainCrash(dumpOf(constants.signals[name]), undefined);
  expect({ signal, address }).toEqual({ signal: name, address: '0x79cd' });
});

it('SIGABRT has none: there the system puts the id of the process', () => {
  const found = explainCrash(dumpOf(constants.signals.SIGABRT), undefined);
  expect(found.signal).toBe('SIGABRT');
  expect(found).not.toHaveProperty('address');
});

/** A dump of many threads that all have the same stack. */
function dumpWithThreads(threads: number, stackBytes: number): Buffer {
  const [exception, modules, list] = [100, 300, 304];
  const context = list + 4 + 48 * threads;
  const stack = context + 1232;
  const bytes = Buffer.alloc(stack + stackBytes);
  bytes.write('MDMP', 0, 'latin1');
  bytes.writeUInt32LE(3, 8);
  bytes.writeUInt32LE(32, 12);
  for (const [i, [type = 0, place = 0]] of [
    [3, list],
    [4, modules],
    [6, exception],
  ].entries()) {
    bytes.writeUInt32LE(type, 32 + 12 * i);
    bytes.writeUInt32LE(place, 40 + 12 * i);
  }
  bytes.writeUInt32LE(threads, exception);
  bytes.writeUInt32LE(constants.signals.SIGSEGV, exception + 8);
  bytes.writeUInt32LE(threads, list);
  for (let i = 0; i < threads; i++) {
    const at = list + 4 + 48 * i;
    bytes.writeUInt32LE(i + 1, at);
    bytes.writeUInt32LE(stackBytes, at + 32);
    bytes.writeUInt32LE(stack, at + 36);
    bytes.writeUInt32LE(1232, at + 40);
    bytes.writeUInt32LE(context, at + 44);
  }
  return bytes;
}

it('a false dump whose threads share a long stack takes no more memory than one stack', () => {
  const found = explainCrash(readMinidump(dumpWithThreads(50_000, 1024 * 1024)), undefined);
  expect(found).toMatchObject({ signal: 'SIGSEGV', threads: 50_000, thread: 50_000, callers: [] });
  const bytes = dumpWithThreads(3, 4096);
  expect(() => readMinidump(bytes.subarray(0, -1))).toThrow('it is incomplete');
});
