import { resolve } from 'node:path';
import { z } from 'zod';
import { type ConfigField, configFields } from './fields.js';
import { FlagError, StartupError } from './startup-error.js';

/** A command-line flag of `lorekeep serve`, with the environment variable of the same meaning. */
export interface ConfigFlag {
  /** As `--help` shows it: `--port <n>`. */
  readonly flag: string;
  /** `--port` */
  readonly name: string;
  /** `LOREKEEP_PORT` */
  readonly variable: string;
  readonly description: string;
  /** The field that the flag overrides; absent for --config. */
  readonly field?: ConfigField;
}

/** `--config`, then the flags of fields. */
export const configFlags: readonly ConfigFlag[] = [
  named('--config <path>', 'The config file. Default: data/server-config.json in the package.'),
  ...configFields.flatMap((field) => {
    const { flag } = field.facts;
    return flag === undefined ? [] : [{ ...named(flag, field.schema.description ?? ''), field }];
  }),
];

/** The values on a command line by flag name (`--port`); a flag without a value is `true`. */
export type FlagValues = Readonly<Record<string, string | boolean | undefined>>;

/** A value that overrides the file's. */
export interface Override {
  readonly field: ConfigField;
  readonly value: unknown;
  /** The flag or the variable. */
  readonly source: string;
}

/**
 * Returns the values of flags and environment variables. A flag overrides its variable; an empty variable is ignored.
 * Relative paths start at the current folder.
 * @throws FlagError or, for a variable, StartupError, with its name and the allowed values
 */
export function readOverrides(flags: FlagValues, environment: NodeJS.ProcessEnv): Override[] {
  return configFlags.flatMap(({ name, variable, field }) => {
    if (field === undefined) return [];
    if (flags[name] !== undefined)
      return [{ field, value: parse(name, field, flags[name], FlagError), source: name }];
    const text = environment[variable];
    return text ? [{ field, value: parse(variable, field, text, StartupError), source: variable }] : [];
  });
}

/** Returns the config file named by --config or LOREKEEP_CONFIG, else undefined. @throws FlagError */
export function configPath(flags: FlagValues, environment: NodeJS.ProcessEnv): string | undefined {
  const given = flags['--config'];
  if (typeof given !== 'string') return environment.LOREKEEP_CONFIG || undefined;
  if (given === '') throw new FlagError('--config: a path is expected');
  return given;
}

function named(flag: string, description: string) {
  const name = flag.split(' ')[0] as string;
  const variable = `LOREKEEP_${name.slice(2).replaceAll('-', '_').toUpperCase()}`;
  return { flag, name, variable, description };
}

function parse(
  source: string,
  { schema, facts }: ConfigField,
  given: string | boolean,
  Refusal: typeof StartupError,
): unknown {
  const parsed = schema.safeParse(fromText(schema, given));
  if (!parsed.success) {
    // The message shows the given text, not the converted value.
    const [issue] = (schema.safeParse(given).error ?? parsed.error).issues;
    throw new Refusal(`${source}: ${issue?.message}`);
  }
  const { data } = parsed;
  return facts.path && data !== '' ? resolve(data as string) : data;
}

/** Converts a text to the field's type. A text that does not fit is returned unchanged, for the schema to refuse. */
function fromText(schema: z.ZodType, given: string | boolean): unknown {
  if (typeof given === 'boolean') return given;
  const { type } = z.toJSONSchema(schema, { io: 'input' });
  if (type === 'integer' && /^[+-]?\d+$/.test(given.trim())) return Number(given);
  if (type === 'boolean') return booleans.get(given.trim().toLowerCase()) ?? given;
  return given;
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
