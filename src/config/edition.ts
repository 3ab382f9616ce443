import { isProduction } from '../base/files/home.js';
import type { ServerConfig } from './schema.js';

/** Switches off the features that this edition of the package lacks. Returns one sentence per feature. */
export function switchOffAbsent(config: ServerConfig): string[] {
  if (!isProduction) return [];
  const features = { 'monitor.enabled': config.monitor, 'debug_commands.enabled': config.debug_commands };
  return Object.entries(features)
    .filter(([, feature]) => feature.enabled)
    .map(([field, feature]) => {
      feature.enabled = false;
      return `${field}: is not part of the production edition and stays off`;
    });
}
