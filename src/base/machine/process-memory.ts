import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Returns the process's own limit in bytes, as set by `ulimit` or `prlimit`; undefined if there is none. */
function resourceLimit(): number | undefined {
  let text: string;
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
  const numbers = ['Max data size', 'Max address space'].flatMap((name) => {
    const number = new RegExp(`^${name} +(\\d+)`, 'm').exec(text)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
  return numbers.length === 0 ? undefined : Math.min(...numbers);
}

/**
 * Returns the bytes of memory that this process may use: the least of the machine's memory, the control group's limit
 * (`constrained`), and the resource limit (`resource`). Ignores free memory, which differs at every start.
 */
export function processMemory(
  constrained: number = process.constrainedMemory?.() ?? 0,
  machine: number = totalmem(),
  resource: number | undefined = resourceLimit(),
): number {
  // Without a limit, some systems report 0, others a number beyond any machine's memory.
  const limits = [
    machine,
    ...(constrained > 0 ? [constrained] : []),
    ...(resource === undefined ? [] : [resource]),
  ];
  return Math.min(...limits);
}
