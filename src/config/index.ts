/** server-config.json: fields, command-line flags and environment variables. */
export { checkServerConfig } from './check.js';
export type { ConfigProblem } from './file.js';
export { type ConfigFlag, configFlags, type FlagValues } from './flags.js';
export { type LoadedConfig, loadConfig } from './load.js';
export { configSchema, type ServerConfig } from './schema.js';
export { FlagError, StartupError } from './startup-error.js';
