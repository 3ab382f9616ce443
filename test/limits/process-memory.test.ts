import { describe, expect, it } from 'vitest';
import { processMemory } from '../../src/base/machine/process-memory.js';

const gibibyte = 2 ** 30;
const machine = 64 * gibibyte;

describe('the memory that the process may use', () => {
  it('is a limit that is less than the memory of the machine', () => {
    expect(processMemory(2 * gibibyte, machine, undefined)).toBe(2 * gibibyte);
    expect(processMemory(2 * gibibyte, machine, gibibyte)).toBe(gibibyte);
    expect(processMemory(0, machine, gibibyte)).toBe(gibibyte);
  });

  it.each([
    ['0: none', 0],
    ['the most of version 2', 2 ** 64],
    ['the most of version 1', 2 ** 63 - 4096],
    ['more than the machine has', machine + 1],
  ])("is the machine's where the limit is %s", (_, limit) => {
    expect(processMemory(limit, machine, undefined)).toBe(machine);
    expect(processMemory(limit, machine, machine + 1)).toBe(machine);
  });

  it('is a number here', () => {
    expect(processMemory()).toBeGreaterThan(2 ** 20);
  });
});
