import { InvalidArgumentError } from 'commander';

/** Parsers of what stands on the command line, for commander. */
export const port = integer(0, 65_535);

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
