import { constants } from 'node:os';
import { expect, it } from 'vitest';
import { explainCrash } from '../../src/crash/explain.js';
import type { Minidump } from '../../src/crash/minidump.js';

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
