import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { z } from 'zod';
import { describeIssue } from '../schema/field-issue.js';
import { parseLenient } from '../schema/lenient.js';
import { homeFolder } from './home.js';
import { configSchema, pathFields, type ServerConfig } from './schema.js';
import { StartupError } from './startup-error.js';

export interface LoadedConfig {
  config: ServerConfig;
  /** The file that was read; absent when the server runs on defaults. */
  file?: string;
  /** One sentence per key that has no effect. */
  warnings: string[];
}

/** Values of the command line; they beat the file's. */
export type ConfigOverrides = { [Key in keyof ServerConfig]?: ServerConfig[Key] | undefined };

/**
 * Reads the config file. The default file may be absent, one that was named may not. Paths come back absolute.
 * @throws StartupError that names the file, the key and what was expected.
 */
export async function loadConfig(
  file: string | undefined,
  overrides: ConfigOverrides = {},
): Promise<LoadedConfig> {
  const path = resolve(file ?? join(homeFolder, 'data', 'server-config.json'));
  const text = await readConfigFile(path, file !== undefined);
  const written = text === undefined ? {} : parseJson(path, text);
  const parsed = parseLenient(configSchema, written);
  if (!parsed.ok) throw new StartupError(`${path}: ${describeIssue(parsed.issue)}`);
  const warnings = parsed.warnings.map((warning) => `${path}: ${warning}; it has no effect`);
  const config = resolvePaths(parsed.value, written as Record<string, unknown>, dirname(path));
  for (const [key, value] of Object.entries(overrides)) {
    if (value !== undefined) Object.assign(config, { [key]: value });
  }
  return text === undefined ? { config, warnings } : { config, warnings, file: path };
}

async function readConfigFile(path: string, mustExist: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new StartupError(`${path}: cannot be read: ${message}`);
    if (mustExist) throw new StartupError(`${path}: the config file does not exist`);
    return undefined;
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StartupError(`${path}: not valid JSON: ${(error as Error).message}`);
  }
}

function resolvePaths(config: ServerConfig, written: Record<string, unknown>, folder: string): ServerConfig {
  const resolved: Record<string, unknown> = { ...config };
  for (const [key, schema] of Object.entries(configSchema.shape)) {
    const value = resolved[key];
    if (
      !pathFields.has(schema as z.ZodType) ||
      typeof value !== 'string' ||
      value === '' ||
      isAbsolute(value)
    )
      continue;
    resolved[key] = join(Object.hasOwn(written, key) ? folder : homeFolder, value);
  }
  return resolved as ServerConfig;
}
