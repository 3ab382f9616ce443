import { dirname, join, resolve } from 'node:path';
import { homeFolder } from '../base/files/home.js';
import { valueAt } from '../base/schema/field-issue.js';
import { sessionFolders } from './access.js';
import { configFields, setValue } from './fields.js';
import { parseConfig, readTextFile } from './file.js';
import { configPath, type FlagValues, type Override, readOverrides } from './flags.js';
import { applyLegacyQuantum } from './legacy-quantum.js';
import { configSchema, type ServerConfig } from './schema.js';
import { configSources } from './sources.js';
import { FlagError, StartupError } from './startup-error.js';

export interface LoadedConfig {
  /** Complete; paths are absolute or empty. */
  config: ServerConfig;
  /** The file that was read; absent if the server runs on defaults. */
  file?: string;
  /** Path of that file, existing or not. */
  place: string;
  /** Source of each field that is not at its default, by path: "file", a flag or a variable. */
  sources: ReadonlyMap<string, string>;
  /** One sentence per probable mistake. */
  warnings: string[];
  /** One sentence that names the set fields without effect in this version. */
  withoutEffect?: string;
}

/** Default path of the config file. */
export const defaultConfigFile = join(homeFolder, 'data', 'server-config.json');

/**
 * Loads the configuration. Precedence: flag, environment variable, file, default. An absent file is not an error, but a
 * warning if it was named.
 * @throws StartupError with file, line, column, field and expected value; FlagError for the command line
 */
export async function loadConfig(
  flags: FlagValues = {},
  environment: NodeJS.ProcessEnv = {},
): Promise<LoadedConfig> {
  const named = configPath(flags, environment);
  const overrides = readOverrides(flags, environment);
  const path = resolve(named ?? defaultConfigFile);
  const text = await readTextFile(path).catch((error: unknown) => {
    if (flags['--config'] === undefined || !(error instanceof StartupError)) throw error;
    throw new FlagError(error.message, { cause: error });
  });
  if (text === undefined) {
    const missing = `${path}: the config file does not exist: all fields have their defaults`;
    return complete(configSchema.parse({}), {}, path, overrides, named === undefined ? [] : [missing]);
  }
  const { config, written, problems } = parseConfig(path, text);
  if (config === undefined) throw refusal(problems.filter(({ severity }) => severity === 'error'));
  const warnings = problems.map(({ message }) => message);
  return { ...complete(config, written, path, overrides, warnings), file: path };
}

function refusal(errors: readonly { message: string }[]): StartupError {
  const [first] = errors;
  const more = errors.length - 1;
  const rest = more > 0 ? ` (and ${more} more: \`lorekeep check\` on the file lists all)` : '';
  return new StartupError(`${first?.message}${rest}`);
}

function complete(
  parsed: ServerConfig,
  written: object,
  path: string,
  overrides: readonly Override[],
  warnings: string[],
): LoadedConfig {
  const config = structuredClone(parsed);
  for (const { keys, facts } of configFields) {
    if (!facts.path && !facts.folders && !facts.namedPaths) continue;
    const value = valueAt(config, keys);
    const folder = valueAt(written, keys) === undefined ? homeFolder : dirname(path);
    const absolute = (each: string) => resolve(folder, each);
    if (facts.namedPaths) setValue(config, keys, withPaths(value as object, absolute));
    else if (Array.isArray(value)) setValue(config, keys, value.map(absolute));
    else if (facts.path && typeof value === 'string' && value !== '') setValue(config, keys, absolute(value));
  }
  for (const { field, value } of overrides) setValue(config, field.keys, value);
  applyLegacyQuantum(config, written);
  config.session_folders = sessionFolders(config);
  const withoutEffect = describeWithoutEffect(written, overrides, config);
  const sources = configSources(written, overrides);
  return { config, sources, warnings, place: path, ...(withoutEffect && { withoutEffect }) };
}

/** Returns a map with the path of each value made absolute. */
function withPaths(map: object, absolute: (path: string) => string): object {
  const entries = Object.entries(map as Record<string, string | { config: string }>);
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === 'string' ? absolute(value) : { ...value, config: absolute(value.config) },
    ]),
  );
}

function describeWithoutEffect(
  written: object,
  overrides: readonly Override[],
  config: ServerConfig,
): string | undefined {
  const set = configFields.filter(({ keys, path, facts: { later, holdsFor } }) => {
    const given = valueAt(written, keys) !== undefined || overrides.some(({ field }) => field.path === path);
    return later !== undefined && given && !holdsFor?.includes(valueAt(config, keys));
  });
  if (set.length === 0) return undefined;
  const byFeature = new Map<string, string[]>();
  for (const { path, facts } of set) {
    const feature = facts.later as string;
    byFeature.set(feature, [...(byFeature.get(feature) ?? []), path]);
  }
  const parts = [...byFeature].map(([feature, paths]) => `${paths.join(', ')} (${feature})`);
  return `set, but without effect in this version: ${parts.join('; ')}`;
}
