import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { stateFolder } from '../base/files/data-folder.js';
import { homeFolder, isSealed } from '../base/files/home.js';
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
  /** Whether the catalog is one that a config in the current folder names, which nobody has named. */
  catalogIsFound: boolean;
  /** Whether the config is one in the current folder, which nobody has named. */
  configIsFound: boolean;
  /** Path of that file, existing or not. */
  place: string;
  /** Source of each field that is not at its default, by path: "file", a flag or a variable. */
  sources: ReadonlyMap<string, string>;
  /** One sentence per probable mistake. */
  warnings: string[];
}

/** Default path of the config file. */
export const defaultConfigFile = join(homeFolder, 'data', 'server-config.json');

/**
 * Loads the configuration. Precedence: flag, environment variable, file, default. An absent file is not an error, but a
 * warning if it was named. `found`: a file in the current folder, read if none is named.
 * @throws StartupError with file, line, column, field and expected value; FlagError for the command line
 */
export async function loadConfig(
  flags: FlagValues = {},
  environment: NodeJS.ProcessEnv = {},
  found?: string | undefined,
): Promise<LoadedConfig> {
  const named = configPath(flags, environment);
  const overrides = readOverrides(flags, environment);
  const path = resolve(named ?? found ?? defaultConfigFile);
  const text = await readTextFile(path).catch((error: unknown) => {
    if (flags['--config'] === undefined || !(error instanceof StartupError)) throw error;
    throw new FlagError(error.message, { cause: error });
  });
  if (text === undefined) {
    const missing = `${path}: the config file does not exist: all fields have their defaults`;
    const given = { written: {}, overrides, warnings: named === undefined ? [] : [missing] };
    return complete(configSchema.parse({}), path, given, environment);
  }
  const { config, written, problems } = parseConfig(path, text);
  if (config === undefined) throw refusal(problems.filter(({ severity }) => severity === 'error'));
  const warnings = problems.map(({ message }) => message);
  const all = complete(config, path, { written, overrides, warnings }, environment);
  const configIsFound = named === undefined && found !== undefined;
  const catalogIsFound = configIsFound && all.sources.get('models_catalog_path') === 'file';
  return { ...all, file: path, catalogIsFound, configIsFound };
}

function refusal(errors: readonly { message: string }[]): StartupError {
  const [first] = errors;
  const more = errors.length - 1;
  const rest = more > 0 ? ` (and ${more} more: \`lorekeep check\` on the file lists all)` : '';
  return new StartupError(`${first?.message}${rest}`);
}

interface Given {
  /** The fields of the file. */
  written: object;
  overrides: readonly Override[];
  warnings: string[];
}

function complete(
  parsed: ServerConfig,
  path: string,
  { written, overrides, warnings }: Given,
  environment: NodeJS.ProcessEnv,
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
  const sources = configSources(written, overrides);
  moveWritten(config, sources, stateFolder(environment));
  applyLegacyQuantum(config, written);
  config.session_folders = sessionFolders(config);
  return { config, sources, warnings, place: path, catalogIsFound: false, configIsFound: false };
}

/**
 * Moves what the server writes from the package's folder to the data folder, at the path that it has below `data/`: built-in
 * defaults, and in an installed package every path, such as one of the shipped config.
 */
function moveWritten(
  config: ServerConfig,
  sources: LoadedConfig['sources'],
  state: string | undefined,
): void {
  if (state === undefined) return;
  for (const { keys, path, facts } of configFields) {
    const value = facts.written && valueAt(config, keys);
    if (typeof value !== 'string' || value === '') continue;
    if (sources.has(path) && !isSealed(value)) continue;
    const below = relative(join(homeFolder, 'data'), value);
    const isBelow = !below.startsWith('..') && !isAbsolute(below);
    setValue(config, keys, join(state, isBelow ? below : basename(value)));
  }
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
