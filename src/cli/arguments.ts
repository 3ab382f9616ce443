/** Argument parsers for commander. */
import { isIPv6 } from 'node:net';
import { InvalidArgumentError } from 'commander';

/** A name or an address; the port is another flag. */
export function host(text: string): string {
  const name = text.trim();
  if (name !== '' && (!/[:/\s]/.test(name) || isIPv6(name))) return name;
  throw new InvalidArgumentError('a name or an address is expected, without the port');
}

export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`an integer from ${min} to ${max} is expected`);
  };
}

export function number(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`a number from ${min} to ${max} is expected`);
  };
}
