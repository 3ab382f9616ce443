import { type Command, Option } from 'commander';
import { type Option as Definition, type Options, snakeCase } from '../../../lib/basics.js';
import { integer, number } from '../arguments.js';

/** Returns the flag of an option, such as `--top-k`. */
export const flagOf = (name: string) => `--${snakeCase(name).replaceAll('_', '-')}`;

/** Adds the flags of the options that have one. */
export function addOptionFlags(command: Command, options: Options): Command {
  for (const [name, option] of Object.entries(options))
    if (option.flag !== undefined) command.addOption(flagOption(name, option));
  return command;
}

/** Returns the values of such flags by the names of the options. */
export function givenOptions(options: Options, flags: object): Record<string, unknown> {
  const given = Object.entries(flags).filter(([name]) => Object.hasOwn(options, name));
  return Object.fromEntries(given.filter(([name]) => options[name]?.flag !== undefined));
}

function flagOption(name: string, option: Definition): Option {
  const { kind, choices, flag, min = 0, max = 0, alone } = option;
  const added = new Option(`${flagOf(name)} ${flag}`, helpOf(option));
  if (choices !== undefined) added.choices(choices);
  if (kind === 'integer') added.argParser(integer(min, max));
  if (kind === 'number') added.argParser(number(min, max));
  return alone === undefined ? added : added.preset(String(alone));
}

/** The text of schemas, with the names of flags, the range and the default. */
function helpOf({ text, kind, min, max, config, usual, otherwise, alone }: Definition): string {
  const range = kind === 'integer' || kind === 'number' ? `, ${min} to ${max}` : '';
  const own = otherwise ?? usual;
  const other = own === undefined ? '' : `, else ${own}`;
  const value = config ? `the knowledge base's${other}` : own;
  const bare = alone === undefined ? undefined : `${alone} without a value`;
  const told = config && bare !== undefined ? `${value}; ${bare}` : (bare ?? value);
  const named = text.replace(/`(\w+)`/g, (_, field: string) => `--${field.replaceAll('_', '-')}`);
  const help = named.replace(/\.$/, '').replaceAll('. ', '; ');
  return `${help.charAt(0).toLowerCase()}${help.slice(1)}${range}${told === undefined ? '' : ` (default: ${told})`}`;
}
