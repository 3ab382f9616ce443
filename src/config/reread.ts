import { isDeepStrictEqual } from 'node:util';
import { valueAt } from '../base/schema/field-issue.js';
import { type ConfigField, configFields, setValue } from './fields.js';
import type { LoadedConfig } from './load.js';
import type { ServerConfig } from './schema.js';

/** Fields that a running server takes over from a changed config file, or the beginnings of their paths. */
const reread = [
  'access_token_file',
  'http.keys_file',
  'log_level',
  'include_interaction_in_diagnostics',
  'include_engine_diagnostics',
  'engines.llm_engine.inference.scheduler.',
  'limits.drain_timeout_ms',
  'limits.frame_timeout_ms',
  'limits.unread_timeout_ms',
  'limits.idle_connection_timeout_ms',
  'limits.max_connections',
  'limits.max_connections_per_address',
  'limits.max_sessions_per_connection',
];

/** Whether a running server takes the field over on SIGHUP. */
export function isReread(path: string): boolean {
  return reread.some((one) => path === one || (one.endsWith('.') && path.startsWith(one)));
}

export interface ConfigChanges {
  /** Changed fields that a running server can take over. */
  taken: readonly ConfigField[];
  /** Paths of changed fields that need a restart. */
  needRestart: readonly string[];
}

/**
 * Compares a running config with a reloaded config. `sources` of both decide whether a field is set: defaults
 * that depend on the machine's state are no changes.
 */
export function configChanges(
  running: ServerConfig,
  sources: ReadonlyMap<string, string>,
  next: Pick<LoadedConfig, 'config' | 'sources'>,
): ConfigChanges {
  const changed = configFields.filter(
    ({ keys, path }) =>
      (sources.has(path) || next.sources.has(path)) &&
      !isDeepStrictEqual(valueAt(running, keys), valueAt(next.config, keys)),
  );
  return {
    taken: changed.filter(({ path }) => isReread(path)),
    needRestart: changed.filter(({ path }) => !isReread(path)).map(({ path }) => path),
  };
}

/** Copies fields from one config to another, in place. */
export function takeOver(fields: readonly ConfigField[], from: ServerConfig, to: ServerConfig): void {
  for (const { keys } of fields) setValue(to, keys, structuredClone(valueAt(from, keys)));
}
