import type { Command } from 'commander';
import { configFlags, type FlagValues } from '../config/flags.js';

/** Adds the flags of config fields to a command. */
export function addConfigFlags(command: Command): Command {
  for (const { flag, description, variable } of configFlags)
    command.option(flag, `${description.replaceAll('`', '')} [${variable}]`);
  return command;
}

/** The values of these flags as texts. The config checks them. */
export function configFlagValues(command: Command): FlagValues {
  const names = new Set(configFlags.map(({ name }) => name));
  const given = command.options.filter(({ long }) => long != null && names.has(long));
  return Object.fromEntries(
    given.map((option) => [option.long, command.getOptionValue(option.attributeName())]),
  );
}
