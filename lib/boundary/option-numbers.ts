import { booleanArgument, choiceArgument, integerArgument, numberArgument } from './arguments.js';
import type { Option, Options } from './option.js';

/** Checks a value and returns it as C++ gets it. @throws INVALID_ARGUMENT */
export function optionNumber(name: string, option: Option, value: unknown): number {
  const { kind, min = 0, max, above, choices, alone } = option;
  if (alone !== undefined && typeof value === 'boolean') return value ? alone : min;
  if (kind === 'integer') return integerArgument(name, value as number, min, min, max as number);
  if (kind === 'boolean') return booleanArgument(name, value as boolean, false) ? 1 : 0;
  if (choices !== undefined) return choices.indexOf(choiceArgument(name, value as string, '', choices));
  return numberArgument(name, value as number, min, min, max, above);
}

const numeric: readonly Option['kind'][] = ['integer', 'number', 'choice', 'boolean'];

/** Returns a function that checks the numbers, choices and truth values among some options. It throws INVALID_ARGUMENT. */
export function optionsCheck(options: Options, prefix = ''): (given: object) => void {
  const checked = Object.entries(options).filter(([, { kind }]) => numeric.includes(kind));
  return (given) => {
    for (const [name, option] of checked) {
      const value = (given as Record<string, unknown>)[name];
      if (value !== undefined) optionNumber(`${prefix}${name}`, option, value);
    }
  };
}
