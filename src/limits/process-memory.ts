import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Limits of the process itself, in bytes, as `ulimit` and `prlimit` set them; undefined where there is none. */
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
 * Bytes of memory that this process may use: the machine's or, where that is less, what control groups give a container
 * or a unit (`constrained`), and what resource limits leave (`resource`). What is free now would differ at every start.
 */
export function processMemory(
  constrained: number = process.constrainedMemory?.() ?? 0,
  machine: number = totalmem(),
  resource: number | undefined = resourceLimit(),
): number {
  // Without a limit, some systems report 0 and others a number beyond any machine.
  const limits = [
    machine,
    ...(constrained > 0 ? [constrained] : []),
    ...(resource === undefined ? [] : [resource]),
  ];
  return Math.min(...limits);
}
